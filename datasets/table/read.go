package table

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Use is the purpose of reading rows.
type Use int

// The uses.
const (
	Training   Use = iota // with labels, which are clipped
	Testing               // with labels as they are
	Predicting            // without labels, even if the file has them
)

// Samples are the rows of a file.
type Samples struct {
	N       int
	Values  []float32 // N samples, one after the other; empty if they are texts
	Texts   [][]byte  // or the N texts of a column of texts
	Classes []int32   // the N labels of a classification
	Numbers []float32 // or the N labels of a regression, scaled

	// Bad has the errors of rows that can't be read, which aren't among the N, by their numbers in the file, from 0:
	// see [File.KeepGoing].
	Bad map[int]*Error

	// Clipped has the share of each column's numbers that were clipped, or of its cells that are no listed category and
	// became [All], 0 to 1. It is as private as the rows.
	Clipped []float64
}

// Read reads a file's rows as samples. It finds the schema's columns by name, in any order, and ignores other columns.
// The error about a cell is an [*Error] that names row and column.
func (s *Schema) Read(f *File, use Use) (*Samples, error) {
	if s == nil {
		return nil, errNoSchema
	}
	var out *Samples
	err := f.pass(s.wanted(f, use), func(r rows) error {
		e, err := s.encoder(r.fields(), use)
		if err != nil {
			return err
		}
		e.rows = r.known()
		e.lenient, _ = r.(*lenientRows)
		r = notated(r, s.written())
		if err := each(r, "", func(cells []cell) error { return e.add(r, cells) }); err != nil {
			return err
		}
		out = &e.out
		for _, c := range e.columns {
			out.Clipped = append(out.Clipped, float64(c.beyond)/float64(max(1, out.N)*c.cells))
		}
		if err := e.addTexts(); err != nil {
			return err
		}
		if out.Bad = f.bad; out.N == 0 && len(f.bad) > 0 {
			return f.bad[0]
		}
		return checkCount(out.N)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ReadPublic is Read of a public file, such as the test file, for [Testing]: the text of its error quotes the file.
func (s *Schema) ReadPublic(f *File) (*Samples, error) {
	out, err := s.Read(f, Testing)
	return out, cited(err)
}

// Count returns the number of a training file's rows, which is public by the definition of the guarantee. It converts
// no values, so it finds only those errors of [Schema.Read] that headers show.
func (s *Schema) Count(f *File) (n int, err error) {
	if s == nil {
		return 0, errNoSchema
	}
	err = f.pass(s.wanted(f, Training), func(r rows) error {
		if _, err := s.encoder(r.fields(), Training); err != nil {
			return err
		}
		if n = r.known(); n > 0 {
			return checkCount(n)
		}
		err := each(r, "", func([]cell) error {
			n++
			return nil
		})
		return cmp.Or(err, checkCount(n))
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (s *Schema) wanted(f *File, use Use) func(string) bool {
	names := map[string]bool{s.Label.Name: use != Predicting}
	for _, c := range s.Columns {
		names[c.Name], names[ArrayOf(c.Name)] = true, true
	}
	delete(names, "")
	f.call(slices.Collect(maps.Keys(names))...)
	return func(name string) bool { return names[name] }
}

// Notated reports whether some numbers aren't written plainly in files of text: see Options.Written.
func (s *Schema) Notated() bool {
	for _, written := range s.written() {
		if written != "" {
			return true
		}
	}
	return false
}

// written returns how the label and the columns are written, by name.
func (s *Schema) written() map[string]string {
	by := map[string]string{s.Label.Name: s.Label.Written}
	for _, c := range s.Columns {
		by[c.Name] = c.Written
	}
	return by
}

// encoder appends rows to samples.
type encoder struct {
	columns []columnReader
	label   *labelReader // nil for predictions
	names   []string     // of the columns, then of the label
	width   int          // values of a sample
	rows    int          // stated in the file's headers, or 0
	out     Samples
	lenient *lenientRows // nil for errors

	schema *Schema
	texts  []byte // of all rows, one after the other
	ends   []int  // of each row's text in them
}

// columnReader is a column and the position of its cells in a row.
type columnReader struct {
	Column
	at, cells int
	index     map[string]int // of categories
	other     int            // index of the category of all unlisted ones, or -1
	words     map[string]int // that mark a missing number, in canonical form
	beyond    int            // numbers that were clipped, or cells of no listed category
}

type labelReader struct {
	Label
	at    int
	index map[string]int
	use   Use
}

func (s *Schema) encoder(fields []field, use Use) (*encoder, error) {
	e := &encoder{schema: s}
	names := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		names[i] = c.Name
	}
	fields, e.names = split(fields, names), append(names, s.Label.Name)
	at, starts, byName := 0, make([]int, len(fields)), make(map[string]int, len(fields))
	for i, f := range fields {
		starts[i], byName[f.name] = at, i
		at += f.width()
	}
	if err := s.lacking(byName, use, fields); err != nil {
		return nil, err
	}
	var first *field
	find := func(name string, shape []int) (int, error) {
		i := byName[name]
		f := &fields[i]
		if first == nil {
			first = f
		}
		switch {
		case f.problem != "":
			return 0, f.unreadable()
		case f.rows != first.rows:
			return 0, &Error{Column: name, Problem: "another number of rows than an array before it; save them apart", Private: fmt.Sprintf("it has %d, and %s has %d", f.rows, textCell(first.name).quoted(), first.rows)}
		case !slices.Equal(f.shape, shape):
			return 0, &Error{Column: name, Problem: fmt.Sprintf("rows of another shape than %v", shape), Private: fmt.Sprintf("their shape is %v", f.shape)}
		}
		return starts[i], nil
	}
	for _, c := range s.Columns {
		start, err := find(c.Name, c.Shape)
		if err != nil {
			return nil, err
		}
		p := columnReader{Column: c, at: start, cells: product(c.Shape), index: indexOf(c.Categories), other: -1}
		if c.Missing != nil {
			p.words = indexOf(canonicals(c.Missing.Words, c.Written))
		}
		if i, ok := p.index[All]; ok {
			p.other = i
		}
		if !s.emptyOnly {
			p.index = Texts(c.Categories)
		}
		e.columns = append(e.columns, p)
		if c.Text == nil {
			e.width += c.width()
		}
	}
	if use == Predicting {
		return e, nil
	}
	shape := fields[byName[s.Label.Name]].shape
	if product(shape) != 1 {
		shape = nil
	}
	start, err := find(s.Label.Name, shape) // [1] serves as well
	if err != nil {
		return nil, err
	}
	e.label = &labelReader{Label: s.Label, at: start, index: withBooleans(indexOf(canonicals(s.Label.Classes, ""))), use: use}
	return e, nil
}

// lacking returns an error about all columns that a file lacks.
func (s *Schema) lacking(has map[string]int, use Use, fields []field) error {
	var lacks []string
	for _, c := range append(slices.Clone(s.Columns), Column{Name: s.Label.Name}) {
		if _, ok := has[c.Name]; !ok && (c.Name != s.Label.Name || use != Predicting) {
			lacks = append(lacks, strconv.Quote(c.Name))
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	names := namesOf(fields)
	return problemf("no column %s; the header must name it as the public test file does%s", listed(lacks), unheaded(names)).citing("its columns are %s", quotedNames(names))
}

func indexOf(list []string) map[string]int {
	index := map[string]int{}
	for i, s := range list {
		index[s] = i
	}
	return index
}

// Texts returns the position in a list of categories of each text that stands for one: names of booleans, and words for
// a missing value, count as the category that is listed. [All] stands for all other texts but the empty one.
func Texts(categories []string) map[string]int {
	at := withBooleans(indexOf(categories))
	if nothing, ok := at[""]; ok {
		for _, word := range missingWords {
			if _, listed := at[word]; !listed {
				at[word] = nothing
			}
		}
	}
	return at
}

// withBooleans adds to categories that are booleans the names that other programs write for them. Those of Parquet are
// 1 and 0, which mean booleans if they are the only categories.
func withBooleans(index map[string]int) map[string]int {
	codes := 0
	for name := range index {
		if name != "" && name != All {
			codes++
		}
	}
	for _, names := range [][]string{{"true", "True", "TRUE", "1"}, {"false", "False", "FALSE", "0"}} {
		for i, from := range names {
			at, ok := index[from]
			for _, name := range names {
				if _, taken := index[name]; ok && !taken && (i < 3 || codes == 2) {
					index[name] = at
				}
			}
		}
	}
	return index
}

// canonicals returns the canonical texts of classes or words: 1 and 1.0 are one class.
func canonicals(texts []string, written string) []string {
	out, by := make([]string, len(texts)), notationOf(written)
	for i, s := range texts {
		out[i] = canonical(by.cell(textCell(s)))
	}
	return out
}

// add appends one row. If the file is read leniently, a row that can't be read is noted instead. Otherwise its error
// names all columns with cells that can't be read, in this row and those behind it.
func (e *encoder) add(r rows, cells []cell) error {
	err := e.row(cells)
	wrong, ok := errors.AsType[*Error](err)
	if !ok || wrong.Column == "" {
		return err
	}
	wrong.Row = r.where()
	if e.schema.settled {
		wrong.Problem, _, _ = strings.Cut(wrong.Problem, "; ")
	}
	if e.lenient != nil && e.label == nil {
		e.lenient.bad[e.lenient.n-1] = wrong
		e.out.Values = e.out.Values[:e.out.N*e.width]
		return nil
	}
	return e.survey(r, cells, wrong)
}

// survey reads the rows to the end and adds to the error about a cell the other columns that have such cells.
func (e *encoder) survey(r rows, cells []cell, first *Error) error {
	columns := map[string][]string{} // by problem
	var problems []string
	advice, seen := "", make([]bool, len(e.columns)+1)
	for err := error(nil); err == nil; cells, err = r.next() {
		e.out = Samples{Values: e.out.Values[:0], Classes: e.out.Classes[:0], Numbers: e.out.Numbers[:0]}
		for i := range seen {
			if seen[i] {
				continue
			}
			wrong, ok := errors.AsType[*Error](e.value(i, cells))
			if seen[i] = ok; !ok {
				continue
			}
			problem, todo, _ := strings.Cut(wrong.Problem, "; ")
			problem, _, _ = strings.Cut(problem, ":") // a column's categories
			if columns[problem] == nil {
				problems = append(problems, problem)
				if todo != "" && !e.schema.settled {
					advice += "; " + todo
				}
			}
			columns[problem] = append(columns[problem], e.names[i])
		}
	}
	if e.schema.settled {
		advice = "; mend the cells, or leave such rows out"
	}
	text, _, _ := strings.Cut(first.Problem, "; ")
	for i, problem := range problems {
		if others := columns[problem]; i > 0 {
			text += fmt.Sprintf("; in %s: %s", listed(others), problem)
		} else if len(others) > 1 {
			text += "; the same in " + listed(others[1:])
		}
	}
	first.Problem = text + advice
	return first
}

// row appends one row. Its errors don't name the row.
func (e *encoder) row(cells []cell) error {
	if len(e.out.Values)+e.width > maxValues {
		return problemf("more than %d values in the file", maxValues)
	}
	var err error
	if e.out.Values, err = grown(e.out.Values, e.width, min(maxValues, e.rows*e.width)); err != nil {
		return err
	}
	for i := range len(e.columns) + 1 {
		if err := e.value(i, cells); err != nil {
			return err
		}
	}
	e.out.N++
	return nil
}

// value appends a row's values in a column or, behind all columns, its label.
func (e *encoder) value(i int, cells []cell) error {
	if i == len(e.columns) {
		if e.label == nil {
			return nil
		}
		return e.addLabel(cells[e.label.at])
	}
	switch c := &e.columns[i]; {
	case c.Text != nil:
		return e.addText(c, cells[c.at])
	case len(c.Categories) > 0:
		return e.category(c, cells[c.at])
	default:
		return e.numbers(c, cells[c.at:c.at+c.cells])
	}
}

func (e *encoder) category(c *columnReader, v cell) error {
	at, ok := c.index[v.String()]
	if !ok && v.kind == none {
		at, ok = c.index[""]
	}
	if !ok && v.kind != none && v.kind != rawBytes {
		if at, ok = c.other, c.other >= 0; ok {
			c.beyond++
		}
	}
	if !ok {
		return c.unknown(v)
	}
	for i := range c.Categories {
		var hot float32
		if i == at {
			hot = 1
		}
		e.out.Values = append(e.out.Values, hot)
	}
	return nil
}
