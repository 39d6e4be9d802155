package experiment

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/show"
)

const (
	muchScaled = 50   // maximum magnitude of values in a column that was scaled to about 1
	flat       = 1e-3 // maximum difference of values that teach a model nothing
	manyAlike  = 20   // rows with equal values that are no accident
)

// largeColumns returns the columns in which public rows have values above muchScaled. scaled reports whether all of
// these have a scale already: then clipping helps.
func largeColumns(s *table.Schema, spans [][]table.Range) (names []string, scaled bool) {
	scaled = true
	for i, of := range spans {
		if slices.ContainsFunc(of, func(v table.Range) bool { return max(-v.Low, v.High) > muchScaled }) {
			names = append(names, s.Columns[i].Name)
			scaled = scaled && s.Columns[i].Scale != nil
		}
	}
	return names, scaled && len(names) > 0
}

// settingNotes returns notes on settings that public rows don't bear out: columns that are the same in all of them once
// they are clipped and scaled, and listed categories that none has, where some have a category that isn't listed.
func settingNotes(s *table.Schema, spans [][]table.Range, public *table.Samples, file string) (notes []string) {
	var same []string
	for i, of := range spans {
		c, unseen := s.Columns[i], []string(nil)
		if len(of) > 0 && !slices.ContainsFunc(of, func(v table.Range) bool { return v.High-v.Low > flat }) {
			same = append(same, c.Name)
			continue
		}
		for j, name := range c.Categories {
			if name != table.All && name != "" && of[j].High == 0 {
				unseen = append(unseen, show.Quoted(name))
			}
		}
		if len(unseen) > 0 && public.Clipped[i] > 0 {
			notes = append(notes, fmt.Sprintf("no row of %s has %s of the categories of %s, and some have one that isn't listed: are they written otherwise, such as Yes for yes?", file, someOf(unseen), c.Name))
		}
	}
	if len(same) > 0 && public.N >= manyAlike {
		notes = append(notes, fmt.Sprintf("the same in all rows of %s, as they are clipped and scaled: %s; a model learns nothing from a column like that", file, someOf(same)))
	}
	return notes
}

// someOf lists names, of many the first ones.
func someOf(names []string) string {
	if len(names) > 5 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:5], ", "), len(names)-5)
	}
	return strings.Join(names, ", ")
}

// leftOut returns the columns of the public file or, without one, of the settings that nothing is learned from.
func leftOut(d settings.Data, s *table.Schema, columns []string) (l release.LeftOut) {
	known := map[string]bool{"": true, s.Label.Name: true}
	for _, c := range s.Columns {
		known[c.Name] = true
		array := table.ArrayOf(c.Name)
		known[array] = known[array] || !slices.Contains(d.Ignore, array)
	}
	for _, name := range slices.Concat(columns, d.Ignore, []string{d.Unit}) {
		switch {
		case known[name]:
			continue
		case name == d.Unit:
			l.Add(name, "says whose a row is")
		case slices.Contains(s.LeftOut(), name):
			l.Add(name, "another number of rows")
		default:
			l.Add(name, "ignored by the settings")
		}
		known[name] = true
	}
	return l
}

// fileNotes returns notes on the user's own files: what is left out without being ignored, and labels of public rows
// that the clip constants change. test is the file of public rows, or nil.
func fileNotes(d settings.Data, s *table.Schema, public *table.Samples, spans [][]table.Range, test, private *table.File) []string {
	notes := append(test.Notes(), private.Notes()...)
	if public == nil {
		return notes
	}
	unread := slices.DeleteFunc(slices.Clone(private.Columns()), func(name string) bool { // whose names are private
		return name == "" || name == d.Unit || slices.Contains(test.Columns(), name)
	})
	if n := len(unread); n > 0 {
		notes = append(notes, fmt.Sprintf("columns that %s has and %s lacks: %s; nothing is learned from them", filepath.Base(d.Train), filepath.Base(d.Test), release.Grouped(n)))
	}
	if n := s.ClippedLabels(public); n > 0 {
		c := s.Label.Clip
		notes = append(notes, fmt.Sprintf("%s of the %s labels of %s lie beyond %v to %v of --clip %s, and are taken as the nearer bound in training: a wider range keeps them, and needs more noise",
			release.Grouped(n), release.Grouped(public.N), filepath.Base(d.Test), c.Low, c.High, s.Label.Name))
	}
	return append(notes, settingNotes(s, spans, public, filepath.Base(d.Test))...)
}

// warning returns a warning of columns of large values, which leave little of a clipped gradient to other columns. It
// is empty if there are none.
func (s Samples) warning(test string) string {
	if len(s.large) == 0 {
		return ""
	}
	columns, file := someOf(s.large), filepath.Base(test)
	if s.outliers {
		return fmt.Sprintf("values far above 1 in %s of %s, scaled as they are: a few outliers drown the other rows; %s", columns, file, s.closerClip())
	}
	return fmt.Sprintf("values far above 1 in %s of %s: a model learns little from columns that aren't scaled; \"dptrain data describe\" suggests --scale and --clip from public rows", columns, file)
}

// closerClip returns the remedy for outliers of scaled columns. Its example clips the first one to ten divisors on
// either side of its shift, with enough digits to tell the two bounds apart whatever the shift.
func (s Samples) closerClip() string {
	i := slices.IndexFunc(s.Schema.Columns, func(c table.Column) bool { return c.Name == s.large[0] })
	scale := s.Schema.Columns[i].Scale
	low, high := scale.Shift-10*scale.Divisor, scale.Shift+10*scale.Divisor
	return fmt.Sprintf("clip closer by public constants, as in --clip %s=%.9g,%.9g", s.large[0], min(low, high), max(low, high))
}
