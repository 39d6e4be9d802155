package engine

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/compile"
)

// Column holds one input's values for all samples, row by row, as floats or as integers.
type Column struct {
	Floats []float32
	Ints   []int32 // such as token ids
}

// Floats returns a column for each slice. A column shares the slice's memory.
func Floats(columns ...[]float32) []Column {
	out := make([]Column, len(columns))
	for i, c := range columns {
		out[i].Floats = c
	}
	return out
}

// Len returns the number of values.
func (c Column) Len() int { return len(c.Floats) + len(c.Ints) }

// missing reports whether the column is absent. An empty one isn't.
func (c Column) missing() bool { return c.Floats == nil && c.Ints == nil }

// Data is a set of samples, with one column for each input of the program: column k holds Samples rows of
// Program.Inputs[k].Size values. An engine may read the columns in place until its Close; see [Engine].
type Data struct {
	Samples int
	Columns []Column
}

// Check checks the columns against the program's inputs: their types and lengths, and that integers are rows of the
// tables that they index ([compile.Program.Range]), so that no kernel reads beyond a table. The error is a
// [*FieldError].
func (d *Data) Check(p *compile.Program) error {
	return d.check(p, func(int) bool { return true })
}

// CheckPredict checks the columns for a prediction, like [Data.Check], except that a column that the output doesn't
// depend on, such as the labels, may be missing.
func (d *Data) CheckPredict(p *compile.Program) error { return d.check(p, p.PredictReads) }

func (d *Data) check(p *compile.Program, reads func(input int) bool) error {
	switch {
	case p == nil:
		return &FieldError{"Program", "there is none"}
	case d == nil:
		return &FieldError{"Data", "there are none"}
	case d.Samples < 0 || d.Samples > math.MaxInt32:
		return &FieldError{"Data.Samples", fmt.Sprintf("%d samples; there may be 0 to %d", d.Samples, math.MaxInt32)}
	case len(d.Columns) != len(p.Inputs):
		return &FieldError{"Data.Columns", fmt.Sprintf("%d columns, the program has %d inputs", len(d.Columns), len(p.Inputs))}
	}
	for k, in := range p.Inputs {
		c := d.Columns[k]
		if c.missing() && !reads(k) {
			continue
		}
		field := fmt.Sprintf("Data.Columns[%d]", k)
		if integers := in.Type == compile.Int32; c.Ints != nil && !integers || c.Floats != nil && integers {
			return &FieldError{field, fmt.Sprintf("its type isn't that of input %q", in.Name)}
		}
		if n := c.Len(); in.Size > 0 && (n%in.Size != 0 || n/in.Size != d.Samples) {
			return &FieldError{field, fmt.Sprintf("%d values, %d samples of input %q need %d each", n, d.Samples, in.Name, in.Size)}
		}
		if !reads(k) {
			continue
		}
		minimum, maximum := p.Range(k)
		for i, v := range c.Ints {
			if v < minimum || v > maximum {
				return &FieldError{field, fmt.Sprintf("sample %d, value %d is %d; input %q takes %d to %d", i/in.Size, i%in.Size, v, in.Name, minimum, maximum)}
			}
		}
	}
	return nil
}

// Layout is the order of a program's parameters in one vector. Coordinate j of parameter i is element Offsets[i]+j of
// the state, of a step's sums and of device memory, and its noise is normal Offsets[i]+j of the step's stream. Offsets
// are even because normals come in pairs; the elements between parameters are padding and hold 0.
type Layout struct {
	Offsets []int // the first element of each parameter
	Lengths []int // the number of values of each parameter
	Size    int   // the length of the vector
}

// LayoutOf returns the layout of a program's parameters, in their order.
func LayoutOf(p *compile.Program) Layout {
	var l Layout
	for _, t := range p.Params {
		l.Offsets = append(l.Offsets, l.Size)
		l.Lengths = append(l.Lengths, t.Size)
		l.Size += (t.Size + 1) / 2 * 2
	}
	return l
}

// Split returns each parameter's part of a vector, without copying, or nil for nil.
func (l Layout) Split(vector []float32) [][]float32 {
	if vector == nil {
		return nil
	}
	out := make([][]float32, len(l.Offsets))
	for i, at := range l.Offsets {
		out[i] = vector[at : at+l.Lengths[i] : at+l.Lengths[i]]
	}
	return out
}

// Join copies parameters into a new vector. It returns nil for nil.
func (l Layout) Join(params [][]float32) []float32 {
	if params == nil {
		return nil
	}
	out := make([]float32, l.Size)
	for i, p := range params {
		copy(out[l.Offsets[i]:], p)
	}
	return out
}
