package compile_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// tokens returns a graph that looks up two rows of a table by an input of integers: cost Σ e[ids]².
func tokens(batch int) (compile.Source, error) {
	g := enginetest.NewG(batch, 1)
	ids := gorgonia.NewMatrix(g.Graph, tensor.Int, gorgonia.WithShape(batch, 2), gorgonia.WithName("ids"))
	table := g.Param("e", 3, 2)
	gathered := g.Do(gorgonia.ByIndices(table, g.Do(gorgonia.Reshape(ids, tensor.Shape{batch * 2})), 0))
	src, err := g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(gathered)))))
	src.Inputs = gorgonia.Nodes{ids}
	return src, err
}

// A table's gradient consists of the rows that the sample indexed, for any batch. Gorgonia's own, by hand, is 2e for
// each time that a row was indexed.
func TestLookup(t *testing.T) {
	var listing string
	for _, batch := range []int{1, 4} {
		src, err := tokens(batch)
		if err != nil {
			t.Fatal(err)
		}
		p, err := compile.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		in := p.Inputs[0]
		if in.Type != compile.Int32 || p.Values[in.Value].Type != compile.Int32 || p.Params[0].Type != compile.Float32 {
			t.Errorf("the input is of type %v, the parameter of %v", in.Type, p.Params[0].Type)
		}
		look := find(t, p.Forward, compile.Lookup)
		if look.Rows != 2 || look.K != 2 || look.N != 3 || look.In[0] != in.Value {
			t.Errorf("the lookup is %v", look)
		}
		if r := p.Reductions; len(r) != 1 || r[0].Rule != compile.OfRows || r[0].X != in.Value || r[0].Rows != 2 || r[0].K != 2 || r[0].N != 3 {
			t.Errorf("the reductions are %v", r)
		}
		if minimum, maximum := p.Range(0); minimum != 0 || maximum != 2 {
			t.Errorf("indices are from %d to %d", minimum, maximum)
		}
		if listing == "" {
			listing = p.String()
		}
		if p.String() != listing {
			t.Errorf("with a batch of %d the program is another:\n%s", batch, p)
		}
	}
	src, err := tokens(1)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := enginetest.NewReference(src)
	if err != nil {
		t.Fatal(err)
	}
	e := []float32{1, 2, 3, 4, 5, 6}
	got, err := ref.Gradient([][]float32{e}, [][]float32{{2, 2}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{0, 0, 0, 0, 20, 24}; !slices.Equal(got[0], want) {
		t.Errorf("gradient %v, want 2e, twice for the last row", got[0])
	}
}

// A table with another use has one dense gradient, which all of its uses write.
func TestTablesWithOtherUses(t *testing.T) {
	for name, grads := range map[string]int{"a table looked up twice": 2, "a table that is a weight too": 1} {
		p := enginetest.Zoo()[name].Program(t, 2)
		found := 0
		for _, in := range p.Backward {
			if in.Op == compile.GradLookup {
				found++
			}
		}
		if found != grads || len(p.Reductions) != 1 || p.Reductions[0].Rule != compile.Materialised {
			t.Errorf("%s: %d instructions form its gradient, %v", name, found, p.Reductions)
		}
	}
}

// An input has the range of the smallest table that it indexes. One that indexes none has its type's range.
func TestRange(t *testing.T) {
	p := enginetest.Zoo()["two tables by one input"].Program(t, 2)
	if minimum, maximum := p.Range(0); minimum != 0 || maximum != 4 {
		t.Errorf("of tables with 5 and 8 rows the indices are from %d to %d", minimum, maximum)
	}
	g := enginetest.NewG(1, 1)
	x, w := g.In("x", 3), g.Param("w", 3, 2)
	g.Ids("unused", 4)
	src, err := g.Squares(g.Do(gorgonia.Mul(x, w)))
	if err != nil {
		t.Fatal(err)
	}
	if p, err = compile.Compile(src); err != nil {
		t.Fatal(err)
	}
	if minimum, maximum := p.Range(1); minimum != math.MinInt32 || maximum != math.MaxInt32 {
		t.Errorf("unused integers are from %d to %d", minimum, maximum)
	}
	// Integers that aren't the input itself index nothing: their range would be unknown.
	for name, indices := range map[string]func(g *enginetest.G, ids *gorgonia.Node) *gorgonia.Node{
		"a part": func(g *enginetest.G, ids *gorgonia.Node) *gorgonia.Node {
			return g.Do(gorgonia.Slice(ids, nil, gorgonia.S(1, 3)))
		},
		"two parts": func(g *enginetest.G, ids *gorgonia.Node) *gorgonia.Node { return g.Do(gorgonia.Concat(1, ids, ids)) },
		"computed":  func(g *enginetest.G, ids *gorgonia.Node) *gorgonia.Node { return g.Do(gorgonia.HadamardProd(ids, ids)) },
	} {
		g := enginetest.NewG(1, 1)
		ids, table := g.Ids("ids", 4), g.Param("e", 7, 2)
		of := indices(g, ids)
		h := g.Do(gorgonia.ByIndices(table, g.Do(gorgonia.Reshape(of, tensor.Shape{of.Shape().TotalSize()})), 0))
		src, err := g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h)))))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := compile.Compile(src); err == nil || !strings.Contains(err.Error(), "it reads integers") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Each case is a lookup's program with one fault, and the error that names it.
func TestCheckRefusesCorruptLookups(t *testing.T) {
	type program = *compile.Program
	for name, c := range map[string]struct {
		want  string
		spoil func(t *testing.T, p program)
	}{
		"indices that are floats":    {"can't be value", func(t *testing.T, p program) { find(t, p.Forward, compile.Lookup).In[0] = p.Inputs[1].Value }},
		"table that is an input":     {"can't be value", func(t *testing.T, p program) { find(t, p.Forward, compile.Lookup).In[1] = p.Inputs[1].Value }},
		"more rows than the table":   {"size", func(t *testing.T, p program) { find(t, p.Forward, compile.Lookup).N++ }},
		"wider rows than the table":  {"size", func(t *testing.T, p program) { find(t, p.Forward, compile.Lookup).K++ }},
		"more rows than indices":     {"size", func(t *testing.T, p program) { find(t, p.Forward, compile.Lookup).Rows++ }},
		"no rows":                    {"its sizes are", func(t *testing.T, p program) { find(t, p.Forward, compile.Lookup).Rows = 0 }},
		"no table":                   {"its sizes are", func(t *testing.T, p program) { find(t, p.Forward, compile.Lookup).N = -7 }},
		"adds":                       {"doesn't accumulate", func(t *testing.T, p program) { find(t, p.Forward, compile.Lookup).Accumulate = true }},
		"reduction by floats":        {"isn't an input of", func(t *testing.T, p program) { rowsOf(t, p).X = p.Inputs[1].Value }},
		"reduction by nothing":       {"isn't an input of", func(t *testing.T, p program) { rowsOf(t, p).X = 999 }},
		"reduction by fewer indices": {"isn't an input of", func(t *testing.T, p program) { rowsOf(t, p).Rows-- }},
		"reduction of longer tables": {"values of", func(t *testing.T, p program) { rowsOf(t, p).N++ }},
		"reduction of another δ":     {"has been written", func(t *testing.T, p program) { rowsOf(t, p).Delta = 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			p := enginetest.Zoo()["mean of rows that are looked up"].Program(t, 1)
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, p)
			if err := p.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			_ = p.String()
			p.Range(0)
		})
	}
}

func rowsOf(t *testing.T, p *compile.Program) *compile.Reduction {
	t.Helper()
	for i := range p.Reductions {
		if p.Reductions[i].Rule == compile.OfRows {
			return &p.Reductions[i]
		}
	}
	t.Fatal("there is no reduction of rows: the test shows nothing")
	return nil
}

// An instruction that claims a longer table doesn't widen the range: the shortest table decides.
func TestRangeOfAllThatPicks(t *testing.T) {
	p := enginetest.Zoo()["mean of rows that are looked up"].Program(t, 1)
	rowsOf(t, p).N = 3
	if _, maximum := p.Range(0); maximum != 2 {
		t.Errorf("a gradient of 3 rows takes indices up to %d", maximum)
	}
	p = enginetest.Zoo()["a table looked up twice"].Program(t, 1)
	find(t, p.Backward, compile.GradLookup).N = 2
	_, first := p.Range(0)
	_, second := p.Range(1)
	if min(first, second) != 1 {
		t.Errorf("a gradient of 2 rows takes indices up to %d and %d", first, second)
	}
}

// A table that only the output, or only the cost, indexes counts, and so does a constant table.
func TestRangeOfCostAndOutput(t *testing.T) {
	for _, rows := range [][2]int{{7, 3}, {3, 7}} { // of the cost's table and of the output's
		g := enginetest.NewG(1, 1)
		ids := g.Ids("ids", 2)
		gather := func(rows int) *gorgonia.Node {
			table := gorgonia.NewConstant(tensor.New(tensor.WithShape(rows, 2), tensor.WithBacking(make([]float32, rows*2))), gorgonia.WithName(fmt.Sprint("table of ", rows)))
			return g.Do(gorgonia.ByIndices(table, g.Do(gorgonia.Reshape(ids, tensor.Shape{2})), 0))
		}
		cost := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(g.Do(gorgonia.Mul(gather(rows[0]), g.Param("w", 2, 3)))))))
		src, err := g.Done(g.Do(gorgonia.Reshape(gather(rows[1]), tensor.Shape{1, 4})), cost)
		if err != nil {
			t.Fatal(err)
		}
		p, err := compile.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		if minimum, maximum := p.Range(0); minimum != 0 || maximum != 2 {
			t.Errorf("cost of %d rows, output of %d: indices are from %d to %d", rows[0], rows[1], minimum, maximum)
		}
	}
}
