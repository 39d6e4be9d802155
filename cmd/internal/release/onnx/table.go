package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/datasets/table"
)

// maxColumns bounds the inputs of a graph, each of which takes several operators.
const maxColumns = 10_000

// columns adds an input for each column, and returns the samples that they make.
func (g *graph) columns(s *table.Schema, shape []int) (string, error) {
	if len(s.Columns) > maxColumns {
		return "", fmt.Errorf("%d columns; a graph has up to %d inputs: export it with one input of encoded samples", len(s.Columns), maxColumns)
	}
	for _, c := range s.Columns {
		g.used[c.Name] = true
	}
	var parts []string
	for _, c := range s.Columns {
		if len(c.Categories) > 0 {
			parts = append(parts, g.categories(c))
		} else {
			parts = append(parts, g.numbers(c)...)
		}
	}
	x := parts[0]
	if len(parts) > 1 {
		x = g.op("Concat", parts, intOf("axis", 1))
	}
	if len(shape) > 1 {
		x = g.reshape(x, shape)
	}
	return x, nil
}

// categories returns the one-hot values [N, categories] of positions. A runtime fails at a position that isn't in the
// list. Gather counts negative positions from the end, so they are first replaced by the position after the list.
func (g *graph) categories(c table.Column) string {
	var position string
	if g.texts != nil {
		position = g.position(c)
	} else {
		position = g.input(c.Name, int64s, positionIn(c.Categories))
	}
	all := make([]int64, len(c.Categories))
	for i := range all {
		all[i] = int64(i)
	}
	negative := g.op("Less", []string{position, g.ints(0)})
	checked := g.op("Where", []string{negative, g.ints(int64(len(all))), position})
	list64 := g.ints(all...)
	found := g.op("Gather", []string{list64, checked}, intOf("axis", 0))
	return g.cast(g.op("Equal", []string{g.unsqueeze(found, 1), list64}), float)
}

// position adds an input of texts, and returns their positions in a column's categories. One that isn't listed and has
// no "*" gets the position after the list.
func (g *graph) position(c table.Column) string {
	at := g.texts(c.Categories)
	other, ok := at["*"]
	if !ok {
		other = len(c.Categories)
	}
	if _, ok := at[""]; !ok {
		at[""] = len(c.Categories) // an empty cell isn't one of the others
	}
	names, positions := slices.Sorted(maps.Keys(at)), []int(nil)
	for _, name := range names {
		positions = append(positions, at[name])
	}
	x := g.input(c.Name, texts, "one of "+list(c.Categories))
	return g.op(labelEncoder, []string{x}, textsOf("keys_strings", names...), intsOf("values_int64s", positions...), intOf("default_int64", other))
}

// numbers returns the values [N, width] of a column and, if it has single values, of its indicator.
func (g *graph) numbers(c table.Column) []string {
	x := g.input(c.Name, double, meaning(c), c.Shape...)
	if len(c.Shape) == 0 {
		x = g.unsqueeze(x, 1)
	} else {
		x = g.op("Flatten", []string{x}, intOf("axis", 1))
	}
	given := x
	var nothing string
	if c.Missing != nil || c.Clip != nil {
		nothing = g.op("IsNaN", []string{given})
	}
	if c.Missing != nil {
		for _, w := range numericWords(c.Missing.Words) {
			nothing = g.op("Or", []string{nothing, g.op("Equal", []string{given, g.double(w)})})
		}
		x = g.op("Where", []string{nothing, g.double(c.Missing.Fill), x})
	}
	if c.Clip != nil {
		x = g.clip(x, *c.Clip)
		if c.Missing == nil { // runtimes clip NaN to a number, which would hide it
			x = g.op("Where", []string{nothing, given, x})
		}
	}
	if c.Scale != nil {
		x = g.op("Sub", []string{x, g.double(c.Scale.Shift)})
		x = g.op("Div", []string{x, g.double(c.Scale.Divisor)})
	}
	x = g.cast(x, float)
	if c.Missing == nil || !c.Missing.Indicator || len(c.Shape) > 0 {
		return []string{x}
	}
	indicator := g.cast(nothing, float)
	return []string{x, indicator}
}

func (g *graph) clip(x string, c table.Range) string {
	return g.op("Clip", []string{x, g.double(c.Low), g.double(c.High)})
}

// numericWords returns the words that are numbers, such as -999: a cell may have any notation of them. Other words
// can't occur in a column of doubles.
func numericWords(words []string) (out []float64) {
	for _, w := range words {
		if v, err := strconv.ParseFloat(w, 64); err == nil && strings.Trim(w, "0123456789.+-eE") == "" {
			out = append(out, v)
		}
	}
	return out
}

// meaning explains the input of a column of numbers.
func meaning(c table.Column) string {
	if c.Missing != nil {
		return "in the unit of the file; NaN if missing"
	}
	return "in the unit of the file"
}
