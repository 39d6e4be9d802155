package experiment

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
)

// muchScaled is the maximum magnitude of values in a column that was scaled to about 1.
const muchScaled = 50

// largeColumns returns the columns in which public rows have values above muchScaled. scaled reports whether all of
// these have a scale already: then clipping helps.
func largeColumns(s *table.Schema, public *table.Samples) (names []string, scaled bool) {
	scaled = true
	for i, v := range s.Largest(public) {
		if v > muchScaled {
			names = append(names, s.Columns[i].Name)
			scaled = scaled && s.Columns[i].Scale != nil
		}
	}
	return names, scaled && len(names) > 0
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
func fileNotes(d settings.Data, s *table.Schema, public *table.Samples, test, private *table.File) []string {
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
	return notes
}

// warning returns a warning of columns of large values, which leave little of a clipped gradient to other columns. It
// is empty if there are none.
func (s Samples) warning(test string) string {
	names, shown := s.large, s.large
	if len(names) == 0 {
		return ""
	}
	more := ""
	if len(names) > 5 {
		shown, more = names[:5], fmt.Sprintf(" and %d more", len(names)-5)
	}
	columns, file := strings.Join(shown, ", ")+more, filepath.Base(test)
	if s.outliers {
		return fmt.Sprintf("values far above 1 in %s of %s, scaled as they are: a few outliers drown the other rows; %s", columns, file, s.closerClip())
	}
	return fmt.Sprintf("values far above 1 in %s of %s: a model learns little from columns that aren't scaled; \"dptrain data describe\" suggests --scale and --clip from public rows", columns, file)
}

// closerClip returns the remedy for outliers of scaled columns. Its example clips the first one to ten divisors on
// either side of its shift, with enough digits to tell the two bounds apart whatever the shift.
func (s Samples) closerClip() string {
	name := s.large[0]
	example := ""
	for _, c := range s.Schema.Columns {
		if c.Name == name {
			low, high := c.Scale.Shift-10*c.Scale.Divisor, c.Scale.Shift+10*c.Scale.Divisor
			example = fmt.Sprintf(", as in --clip %s=%.9g,%.9g", name, min(low, high), max(low, high))
		}
	}
	return "clip closer by public constants" + example
}
