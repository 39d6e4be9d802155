package table

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// MaxClasses is the maximum number of different whole numbers that [Infer] treats as classes if no setting gives the
// task.
const MaxClasses = 100

// maxListed bounds inferred classes: a label with more is a mistake, such as a column of names or numbers.
const maxListed = 10000

// Infer returns a schema with the columns of the public test file, in the file's order and with their shapes. Task
// and classes come from o or, if o has none, from the labels in the file. Never call Infer on private data: see the
// package comment. The error about an option is an [*OptionError], and about the file an [*Error].
func Infer(test *File, o Options) (_ *Schema, err error) {
	defer func() { err = cited(err) }()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	ignored := indexOf(append(o.leftOut(), "")) // "" is the first column, if it has no name
	among := func(name string) bool { _, ok := ignored[name]; return ok }
	var fields []field
	test.call(slices.Concat(o.named(), []string{o.Label, o.Unit}, slices.Collect(maps.Keys(o.Written)))...)
	if err := test.pass(func(name string) bool { return !among(name) }, func(r rows) error {
		fields = slices.Clone(r.fields())
		return nil
	}); err != nil {
		return nil, err
	}
	if err := o.findWritten(test, fields, func(name string) bool { return !among(name) }); err != nil {
		return nil, err
	}
	if err := test.checkUnnamed(); err != nil {
		return nil, err
	}
	parts := split(fields, o.named())
	if err := o.checkNames(namesOf(parts), test.path+" has", "it has"); err != nil {
		return nil, err
	}
	if len(o.Columns) > 0 {
		if parts, err = o.ordered(test, fields); err != nil {
			return nil, err
		}
	}
	s := &Schema{}
	var label field
	for _, f := range parts {
		if f.name == o.Label {
			label = f
		}
	}
	var unread []string
	var first *Error // about one of them
	for _, f := range parts {
		switch {
		case f.name == o.Label:
		case (f.rows != label.rows && f.rows > 0 || f.problem == noRows) && !slices.Contains(o.named(), f.name):
			s.leftOut = append(s.leftOut, f.name)
		case among(f.name):
		case f.unclear != "" && len(o.Categories[f.name]) == 0 && f.name != o.Text:
			f.problem = f.unclear
			fallthrough
		case f.problem != "":
			unread, first = append(unread, f.name), cmp.Or(first, f.unreadable())
		default:
			c, err := o.column(f)
			if err != nil {
				return nil, inFile(test.path, err)
			}
			s.Columns = append(s.Columns, c)
		}
	}
	if first != nil {
		first.File, first.Column = test.path, listed(unread)
		first.Problem += ", or ignore it by --ignore " + flagList(unread)
		return nil, first
	}
	if s.Label, err = inferLabel(test, label, o); err != nil {
		return nil, err
	}
	if len(s.Columns) == 0 {
		problem := "no column is left to learn from"
		if len(s.leftOut) > 0 {
			problem += fmt.Sprintf("; %s and %s have different numbers of rows", o.Label, listed(s.leftOut))
		}
		return nil, &Error{File: test.path, Problem: problem}
	}
	if err := o.checkAlone(s.Columns); err != nil {
		return nil, err
	}
	return s.shaped()
}

// shaped sets the samples' shape and checks the schema.
func (s *Schema) shaped() (*Schema, error) {
	width := 0
	for _, c := range s.Columns {
		width += min(c.width(), maxWidth+1)
	}
	s.Shape = s.sampleShape(width)
	return s, s.Check()
}

func namesOf(fields []field) []string {
	var names []string
	for _, f := range fields {
		if f.name != "" {
			names = append(names, f.name)
		}
	}
	return names
}

// checkNames returns an error for an option about a column that isn't among the names of all columns, such as x.csv
// has no column "a"; it has b, c.
func (o Options) checkNames(names []string, has, it string) error {
	known := indexOf(names)
	for _, name := range names {
		known[ArrayOf(name)] = 0
	}
	for _, uses := range []struct {
		option string
		names  []string
	}{
		{"label", []string{o.Label}}, {"ignore", o.Ignore}, {"columns", o.Columns}, {"text", []string{o.Text}},
		{"categories", slices.Sorted(maps.Keys(o.Categories))}, {"missing", slices.Sorted(maps.Keys(o.Missing))},
		{"written", slices.Sorted(maps.Keys(o.Written))}, {"shapes", slices.Sorted(maps.Keys(o.Shapes))},
		{"clip", slices.Sorted(maps.Keys(o.Clip))}, {"scale", slices.Sorted(maps.Keys(o.Scale))},
	} {
		constants := slices.Contains([]string{"clip", "scale", "written"}, uses.option)
		for _, name := range uses.names {
			if constants && name == All || uses.option == "text" && name == "" {
				continue
			}
			if _, ok := known[name]; !ok && !slices.Contains(o.Ignore, ArrayOf(name)) {
				return optionf(uses.option, "%s no column %q; %s %s%s", has, name, it, listed(names), unheaded(names))
			}
			if _, also := o.Categories[name]; also && constants {
				return optionf(uses.option, "%s has categories, which aren't numbers; give it either categories, or %s", name, uses.option)
			}
		}
	}
	return nil
}

// column returns the schema of a column that isn't the label.
func (o Options) column(f field) (Column, error) {
	if f.name == o.Text {
		return o.text(f)
	}
	c := Column{Name: f.name, Shape: f.shape, Categories: o.Categories[f.name]}
	if len(c.Categories) > 0 {
		if len(f.shape) > 0 {
			return c, &Error{Column: f.name, Problem: fmt.Sprintf("shape %v: categories are one value a row", f.shape)}
		}
		return c, nil
	}
	c.Written = f.written
	c.Clip, c.Scale = o.constants(f.name, true)
	m, ok := o.Missing[f.name]
	if !ok {
		m, ok = o.Missing[ArrayOf(f.name)]
	}
	if ok {
		m.Words = slices.Clone(m.Words)
		c.Missing = &m
	}
	return c, c.checkMissing()
}

// constants returns the clip and scale of a column: its own, its array's or, if all is true, those for all columns.
func (o Options) constants(name string, all bool) (clip *Range, scale *Scale) {
	of := func(m map[string][2]float64) ([2]float64, bool) {
		v, ok := m[name]
		if !ok {
			v, ok = m[ArrayOf(name)]
		}
		if !ok && all {
			v, ok = m[All]
		}
		return v, ok
	}
	if v, ok := of(o.Clip); ok {
		clip = &Range{v[0], v[1]}
	}
	if v, ok := of(o.Scale); ok {
		scale = &Scale{v[0], v[1]}
	}
	return clip, scale
}

// inferLabel returns the schema of the label. It infers task and classes if options lack them.
func inferLabel(test *File, f field, o Options) (Label, error) {
	l := Label{Name: f.name, Task: o.Task, Classes: o.Classes, Written: f.written}
	if f.problem != "" || product(f.shape) != 1 {
		if f.problem == "" {
			f.problem = fmt.Sprintf("shape %v: a label is one value a row", f.shape)
		}
		return l, inFile(test.path, f.unreadable())
	}
	if f.unclear != "" {
		return l, &Error{File: test.path, Column: f.name, Problem: f.unclear}
	}
	if len(o.Classes) > 0 {
		l.Task, l.Classes = Classification, plainly(o.Classes, f.written)
	}
	if l.Task == "" || l.Task == Classification && len(l.Classes) == 0 {
		seen, err := labelsOf(test, f)
		if err == nil && seen.without > 0 && f.written != "" { // classes are texts then
			f.written, l.Written = "", ""
			seen, err = labelsOf(test, f)
		}
		if err != nil {
			return l, err
		}
		if l.Task == "" {
			if err := seen.mixed(test.path, f.name); err != nil {
				return l, err
			}
			l.Task = seen.task()
		}
		if l.Task == Classification {
			if l.Classes, err = seen.classes(test.path, f.name); err != nil {
				return l, err
			}
		}
	}
	return o.label(l)
}

// plainly returns classes with plain numbers in place of those that are written otherwise.
func plainly(classes []string, written string) []string {
	out, by := slices.Clone(classes), notationOf(written)
	for i, c := range classes {
		x, plain := parse(c)
		if y, ok := by.cell(textCell(c)).value(); ok && (!plain || x != y) {
			out[i] = decimal(y)
		}
	}
	return out
}

// label gives a label the constants of the options.
func (o Options) label(l Label) (Label, error) {
	clip, scale := o.constants(l.Name, false)
	if l.Task == Regression {
		l.Clip, l.Scale = clip, scale
	} else if clip != nil || scale != nil {
		return l, optionf("scale or clip", "%s holds classes, which have neither; --task regression takes them for numbers", l.Name)
	}
	return l, nil
}

// labels are the different labels of a public file.
type labels struct {
	texts map[string]bool // in canonical form; at most maxListed + 1
	whole bool            // whether all are whole numbers
	// numbers of rows whose label is and isn't a number
	withNumber, without int
	other               cell // the first label that isn't a number
}

func labelsOf(test *File, f field) (*labels, error) {
	seen, by := &labels{texts: map[string]bool{}, whole: true}, notationOf(f.written)
	return seen, test.column(f.name, func(c cell) error {
		c = by.cell(c)
		if c.missing() {
			return c.wrong("", "no label (empty, NaN, NA or the like); leave such rows out of all files, or list all classes by --classes if this is one")
		}
		v, isNumber := c.value()
		if c.kind == number && !isNumber {
			return c.wrong("", "not a finite number, and so no label")
		}
		if isNumber {
			seen.withNumber++
		} else if seen.without++; seen.without == 1 {
			seen.other = c
		}
		seen.whole = seen.whole && isNumber && v == math.Trunc(v)
		if len(seen.texts) <= maxListed {
			seen.texts[canonical(c)] = true
		}
		return nil
	})
}

// canonical returns the text by which labels are compared, which is the same for all notations of a number.
func canonical(c cell) string {
	if v, ok := c.value(); ok {
		return decimal(v)
	}
	if c.word {
		return "\x00" + c.text // 1.5 beside 1,5 is no number
	}
	return c.String()
}

func (l *labels) task() Task {
	if l.without == 0 && (!l.whole || len(l.texts) > MaxClasses) {
		return Regression
	}
	return Classification
}

// mixed returns an error for numbers with texts among them if there are too many numbers for classes. Such texts mostly
// mark missing labels, and would silently turn each amount into a class.
func (l *labels) mixed(file, column string) error {
	if l.withNumber == 0 || l.without == 0 || len(l.texts) <= MaxClasses {
		return nil
	}
	return &Error{File: file, Column: column, Problem: fmt.Sprintf(
		"%d of %d labels aren't numbers, such as %s; leave those rows out of all files if their labels are missing, or give --task classification if every label is a class of its own",
		l.without, l.withNumber+l.without, l.other.quoted())}
}

// classes returns the sorted labels.
func (l *labels) classes(file, column string) ([]string, error) {
	all := slices.Collect(maps.Keys(l.texts))
	sortTexts(all)
	switch {
	case len(all) == 1:
		return nil, &Error{File: file, Column: column, Problem: fmt.Sprintf("every label is %q; give all classes by --classes a,b,c", all[0])}
	case len(all) > maxListed:
		return nil, &Error{File: file, Column: column, Problem: fmt.Sprintf("more than %d different labels; give --task regression for numbers, or all classes by --classes a,b,c", maxListed)}
	}
	return all, nil
}
