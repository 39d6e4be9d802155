package suggest

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/show"
)

// Options say what the columns are for.
type Options struct {
	Label, Task, Unit string
	Ignore            []string
}

// Describe returns settings for the columns of a public file.
func Describe(file string, d table.Description, opts Options) (*File, error) {
	s := &File{
		head: []string{
			fmt.Sprintf("Suggested by dptrain data describe for the %s rows of %s.", release.Grouped(d.Rows), file),
			"USE THIS ONLY IF THAT FILE IS PUBLIC. The constants are released with the model, and no guarantee covers them.",
			"Look it through: a column that isn't ignored is learned from, and you know better than its numbers what it is.",
		},
		data: settings.Data{
			Test: file, Label: opts.Label, Task: opts.Task,
			Categories: map[string][]string{}, Missing: map[string]table.Missing{}, Written: map[string]string{}, Clip: map[string][2]float64{}, Scale: map[string][2]float64{},
		},
	}
	for _, c := range d.Columns {
		s.columns = append(s.columns, c.Name)
	}
	for _, name := range append(slices.Clone(opts.Ignore), opts.Label, opts.Unit) {
		if name != "" && !slices.Contains(s.columns, name) {
			return nil, term.Unknown("column", name, s.columns)
		}
	}
	if opts.Label != "" && slices.Contains(opts.Ignore, opts.Label) {
		return nil, term.Usagef("--ignore %s: it is the label; leave it out, or give another --label", opts.Label)
	}
	if opts.Unit != "" && opts.Unit == opts.Label {
		return nil, term.Usagef("--unit %s: it is the label; name the column that says whose a row is", opts.Unit)
	}
	s.gaps = slices.ContainsFunc(d.Columns, func(c table.Summary) bool {
		return c.Missing > 0 && c.Useless == "" && !opts.uses(c.Name)
	})
	text, learned := textToLearn(d, opts), len(d.Columns)
	for _, c := range d.Columns {
		switch {
		case text != "" && c.Name == text:
			s.data.Text = text
			s.remarkf("text", "", "texts, which the model embedding learns from; nothing else is left")
		case c.Name == opts.Label:
			if err := s.suggestLabel(c, opts.Task, d.Rows); err != nil {
				return nil, err
			}
			learned--
		case c.Name == opts.Unit:
			s.data.Unit = c.Name
			s.remarkf("unit", "", "says whose a row is; --rows-per-unit, or rows_per_unit here, says how many rows of each are kept")
			s.left.Add(c.Name, "says whose a row is")
		case slices.Contains(opts.Ignore, c.Name):
			s.ignore(c.Name, "by --ignore")
		default:
			s.suggestColumn(c, d.Rows)
		}
	}
	s.LeftOut = show.Printable(s.left.Text(learned - s.left.Len()))
	if opts.Label == "" {
		s.notef("label: missing; name the column that holds the labels, by --label")
	}
	if most := 8; len(s.codes) > 0 {
		more := ""
		if len(s.codes) > most+1 {
			more, s.codes = fmt.Sprintf(" and %d more", len(s.codes)-most), s.codes[:most]
		}
		s.notef("few different whole numbers: %s%s; those that are codes, not amounts, belong in categories, not in clip and scale", strings.Join(s.codes, ", "), more)
	}
	s.remarkf("categories", "", `1 for the row's own category, else 0. "*" stands for all that aren't listed, "" for a missing one`)
	if s.gaps {
		s.head = append(s.head, `Values are missing. Columns that have all of them here may lack some in private rows: they have a fill, or a category "", too`)
	}
	s.remarkf("missing", "", "fill, here the median of the public rows, stands for a missing number; indicator adds a value that is 1 if it was missing")
	s.remarkf("written", "", "how the file writes numbers: with which decimal sign, and what stands around them")
	s.remarkf("clip", "", "numbers beyond become the nearer bound; here the extremes of the public rows, rounded outward")
	s.remarkf("scale", "", "(number - first)/second; here mean and standard deviation of the public rows")
	return s, nil
}

// uses reports whether the options say what a column is for.
func (o Options) uses(column string) bool {
	return column == o.Label || column == o.Unit || slices.Contains(o.Ignore, column)
}

// textToLearn returns the column of texts if there is one, and nothing else to learn from; else "".
func textToLearn(d table.Description, opts Options) string {
	text := ""
	for _, c := range d.Columns {
		switch {
		case opts.uses(c.Name):
		case c.Prose && text == "":
			text = c.Name
		case c.Prose || c.Useless == "":
			return ""
		}
	}
	return text
}

// notef adds a note.
func (s *File) notef(format string, args ...any) {
	s.Notes = append(s.Notes, show.Printable(fmt.Sprintf(format, args...)))
}

// brief matches the beginning of a reason, up to a detail: a text in quotes is none.
var brief = regexp.MustCompile(`^([^",:;]|"([^"\\]|\\.)*")+`)

func (s *File) ignore(column, why string) {
	s.left.Add(column, brief.FindString(why))
	s.data.Ignore = append(s.data.Ignore, column)
	s.remarkf("ignore", column, "%s", why)
}

// suggestLabel describes the label. What a model can't be trained on is a note, not an error: the file may be mended.
func (s *File) suggestLabel(c table.Summary, task string, rows int) error {
	if c.Problem != "" {
		return term.Inputf("the label %s can't be read: %s", c.Name, c.Problem)
	}
	if c.Written != "" {
		s.data.Written[c.Name] = c.Written
	}
	if c.Missing > 0 {
		s.notef("%s: no label in %s of the %s rows; leave such rows out of all files, or list all classes if NA, None or their like is one", c.Name, release.Grouped(c.Missing), release.Grouped(rows))
	}
	if len(c.Words) > 0 {
		s.notef("%s: %s labels aren't numbers (%s); leave such rows out of all files if their labels are missing", c.Name, release.Grouped(c.Texts), strings.Join(c.Words, ", "))
	}
	s.noteAlike(c)
	regression := task == release.Regression || task == "" && c.Task() == table.Regression
	if !regression {
		s.suggestClasses(c, task)
		return nil
	}
	if !c.Numbers {
		return term.Usagef("--task regression: the labels in %s aren't numbers; choose classification, or another --label", c.Name)
	}
	if len(c.Sentinels) > 0 {
		s.notef("%s: %s in %s rows, far from all other labels; leave such rows out of all files if their labels are missing", c.Name, strings.Join(c.Sentinels, ", "), release.Grouped(c.SentinelRows))
	}
	scale, varies := c.Suggested()
	if !varies {
		s.notef("%s: always %v, which there is nothing to learn about", c.Name, c.Low)
		return nil
	}
	s.data.Scale[c.Name], s.data.Clip[c.Name] = scale, c.Outward()
	s.remarkf("label", "", "a number: the median is %v", c.Median)
	s.remarkf("clip", c.Name, "the label%s", farOut(c))
	return nil
}

func (s *File) suggestClasses(c table.Summary, task string) {
	const most = 10
	var classes []string
	for i, name := range c.Categories {
		classes = append(classes, fmt.Sprintf("%s (%s)", name, release.Grouped(c.Counts[i])))
	}
	if len(classes) > most {
		classes = append(classes[:most], "…")
	}
	switch {
	case len(c.Categories) == 0:
		s.notef("%s: more than %d classes; is it the label?", c.Name, table.MaxClasses)
		return
	case len(c.Categories) == 1:
		s.notef("%s: always %s; list all in data.classes if others are publicly known", c.Name, c.Categories[0])
		return
	}
	s.remarkf("label", "", "%d classes, with their rows: %s", len(c.Categories), strings.Join(classes, ", "))
	if c.Numbers && task == "" && len(c.Categories) > 2 {
		s.notef("%s: %d different whole numbers, which are taken for classes. If they are amounts, describe again with --task regression", c.Name, len(c.Categories))
	}
}

// suggestColumn suggests the treatment of a column that isn't the label.
func (s *File) suggestColumn(c table.Summary, rows int) {
	scale, varies := c.Suggested()
	switch {
	case c.Useless != "":
		s.ignore(c.Name, c.Useless)
	case c.Numbers && varies:
		s.suggestNumbers(c, scale, rows)
	case c.Numbers && c.Missing == 0:
		s.ignore(c.Name, fmt.Sprintf("%v to %v: too close to each other, or too large, to be scaled; use another unit", c.Low, c.High))
	default:
		s.suggestCategories(c)
	}
}

func (s *File) suggestNumbers(c table.Summary, scale [2]float64, rows int) {
	s.data.Scale[c.Name], s.data.Clip[c.Name] = scale, c.Outward()
	if c.Written != "" {
		s.data.Written[c.Name] = c.Written
	}
	if far := farOut(c); far != "" {
		s.remarkf("clip", c.Name, "%s", strings.TrimPrefix(far, "; "))
	}
	if few := 10; c.Whole && len(c.Shape) == 0 && len(c.Categories) > 2 && len(c.Categories) <= few && len(c.Words) == 0 {
		s.codes = append(s.codes, c.Name)
	}
	if c.MayBeID {
		s.notef("%s: named or written as ids are, and taken for amounts. If it is an id, ignore it; if it says whose a row is, --unit %[1]s protects all rows of one together and ignores it too", c.Name)
	}
	if len(c.Sentinels) > 0 {
		s.notef("%s: %s in %s rows, far from all other values, is taken for a missing number; if it is an amount, take it out of words in missing, and clip to a range that has it", c.Name, strings.Join(c.Sentinels, " or "), release.Grouped(c.SentinelRows))
	}
	if i := slices.IndexFunc(c.Words, func(word string) bool { return strings.ContainsFunc(word, unicode.IsNumber) }); i >= 0 {
		s.notef("%s: texts such as %q in %s rows are taken for missing numbers; if they are amounts, write them as the others", c.Name, c.Words[i], release.Grouped(c.Texts))
	}
	if m, ok := c.SuggestedMissing(); ok {
		s.data.Missing[c.Name] = m
		remark := fmt.Sprintf("missing in %s of %s rows", release.Grouped(c.Missing), release.Grouped(rows))
		if len(c.Shape) > 0 {
			remark = fmt.Sprintf("missing values: %s; here the fill is the mean", release.Grouped(c.Missing))
		}
		if words := c.Texts + c.SentinelRows; words > 0 {
			remark += fmt.Sprintf(", a word instead in %s", release.Grouped(words))
		}
		s.remarkf("missing", c.Name, "%s", remark)
	} else if s.gaps && len(c.Shape) == 0 {
		s.data.Missing[c.Name] = table.Missing{Fill: c.Median}
	}
}

// farOut returns a remark, behind a semicolon, on numbers that are far from the others, or nothing.
func farOut(c table.Summary) string {
	const far = 10
	if most := max(c.High-c.Mean, c.Mean-c.Low) / c.Deviation; most > far {
		return fmt.Sprintf("; up to %s standard deviations from the mean, where closer bounds leave more to the other rows", strconv.FormatFloat(math.Floor(most), 'f', 0, 64))
	}
	return ""
}

func (s *File) suggestCategories(c table.Summary) {
	s.noteAlike(c)
	const few = 10
	if c.Texts > 0 && len(c.Categories) > few && !strings.ContainsFunc(strings.Join(c.Categories, ""), unicode.IsLetter) {
		s.notef("%s: %d different numbers and texts such as %q are taken for categories; if they are amounts, write all of them as numbers", c.Name, len(c.Categories), c.Text)
	}
	list := slices.Clone(c.Categories)
	var remarks []string
	if c.Missing > 0 || s.gaps {
		list = append(list, "")
	}
	if c.Missing > 0 {
		remarks = append(remarks, release.Grouped(c.Missing)+" missing")
	}
	if !slices.Contains(list, table.All) {
		list = append(list, table.All)
	}
	const many = 30
	if len(c.Categories) > many {
		remarks = append([]string{fmt.Sprintf("%d categories", len(c.Categories))}, remarks...)
	}
	s.data.Categories[c.Name] = list
	if len(remarks) > 0 {
		s.remarkf("categories", c.Name, "%s", strings.Join(remarks, "; "))
	}
}

// noteAlike notes categories or classes that differ in the case of letters alone.
func (s *File) noteAlike(c table.Summary) {
	for i, name := range c.Categories {
		if j := slices.IndexFunc(c.Categories[:i], func(other string) bool { return strings.EqualFold(other, name) }); j >= 0 {
			s.notef("%s: %s and %s look like one; if they are, write them alike in all files", c.Name, c.Categories[j], name)
			return
		}
	}
}
