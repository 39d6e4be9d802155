package enginetest

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/compile"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// lookups are graphs that look up rows of tables by inputs of integers, which repeat within samples.
var lookups = map[string]Graph{
	"mean of rows that are looked up": {50, func(g *G) (compile.Source, error) {
		ids, weights := g.Ids("ids", 5), g.In("weights", 5)
		h := g.Do(gorgonia.Reshape(g.gather(g.Param("e", 7, 3), ids, 5), tensor.Shape{g.Batch, 5, 3}))
		weights = g.Do(gorgonia.Reshape(weights, tensor.Shape{g.Batch, 5, 1}))
		h = g.Do(gorgonia.Sum(g.Do(gorgonia.BroadcastHadamardProd(h, weights, nil, []byte{2})), 1))
		return g.Squares(g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(h, g.Param("w", 3, 4))))))
	}},
	"one row that is looked up": {51, func(g *G) (compile.Source, error) {
		h := g.gather(g.Param("e", 4, 17), g.Ids("ids", 1), 1)
		return g.Squares(g.Do(gorgonia.Tanh(h)))
	}},
	"an index a sample": {52, func(g *G) (compile.Source, error) {
		x, ids := g.In("x", 3), g.Ids("ids")
		h := g.Do(gorgonia.ByIndices(g.Param("e", 6, 3), ids, 0))
		return g.Squares(g.Do(gorgonia.Tanh(g.Do(gorgonia.HadamardProd(h, x)))))
	}},
	// Most of a sample's indices repeat an earlier one of the sample, and there are more rows than samples in a
	// microbatch.
	"many indices, few rows": {53, func(g *G) (compile.Source, error) {
		h := g.Do(gorgonia.Tanh(g.gather(g.Param("e", 3, 2), g.Ids("ids", 150), 150)))
		return g.Squares(g.Do(gorgonia.Mul(g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, 300})), g.Param("w", 300, 2))))
	}},
	"few indices, many rows": {54, func(g *G) (compile.Source, error) {
		h := g.Do(gorgonia.Tanh(g.gather(g.Param("e", 900, 16), g.Ids("ids", 9), 9)))
		return g.Squares(g.Do(gorgonia.Mul(g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, 144})), g.Param("w", 144, 2))))
	}},
	"a table looked up twice": {55, func(g *G) (compile.Source, error) {
		e := g.Param("e", 5, 3)
		a, b := g.gather(e, g.Ids("a", 4), 4), g.gather(e, g.Ids("b", 4), 4)
		return g.rows(g.Do(gorgonia.HadamardProd(g.Do(gorgonia.Tanh(a)), b)), 12)
	}},
	"a table that is a weight too": {56, func(g *G) (compile.Source, error) {
		e := g.Param("e", 6, 3)
		h := g.Do(gorgonia.Tanh(g.gather(e, g.Ids("ids", 2), 2)))
		return g.rows(g.Do(gorgonia.Mul(h, g.Do(gorgonia.Transpose(e)))), 12)
	}},
	"two tables by one input": {57, func(g *G) (compile.Source, error) {
		ids := g.Ids("ids", 4)
		a, b := g.gather(g.Param("e", 5, 2), ids, 4), g.gather(g.Param("f", 8, 2), ids, 4)
		return g.rows(g.Do(gorgonia.Tanh(g.Do(gorgonia.Add(a, g.Do(gorgonia.Square(b)))))), 8)
	}},
	"a long table before a short one, between layers": {61, func(g *G) (compile.Source, error) {
		h := g.Do(gorgonia.Mul(g.In("x", 3), g.Param("c", 3, 6)))
		for _, rows := range []int{70, 2} {
			gathered := g.gather(g.Param(fmt.Sprint("e", rows), rows, 2), g.Ids(fmt.Sprint("ids", rows), 3), 3)
			h = g.Do(gorgonia.Add(g.Do(gorgonia.Tanh(h)), g.Do(gorgonia.Reshape(gathered, tensor.Shape{g.Batch, 6}))))
		}
		return g.Squares(g.Do(gorgonia.Mul(g.Do(gorgonia.Tanh(h)), g.Param("w", 6, 2))))
	}},
	"a table of matrices": {58, func(g *G) (compile.Source, error) {
		h := g.gather(g.Param("e", 5, 2, 3), g.Ids("ids", 2, 2), 4)
		h = g.Do(gorgonia.Reshape(g.Do(gorgonia.Tanh(h)), tensor.Shape{g.Batch, 24}))
		return g.Squares(g.Do(gorgonia.Mul(h, g.Param("w", 24, 2))))
	}},
	"a table in another shape": {59, func(g *G) (compile.Source, error) {
		e := g.Do(gorgonia.Reshape(g.Param("e", 12), tensor.Shape{4, 3}))
		return g.rows(g.Do(gorgonia.Tanh(g.gather(e, g.Ids("ids", 3), 3))), 9)
	}},
	"a table that is constant": {60, func(g *G) (compile.Source, error) {
		e := gorgonia.NewConstant(g.value([]float32{1, 2, -3, 0.5, -0.25, 1.5, 2.5, 0}, []int{4, 2}))
		h := g.gather(e, g.Ids("ids", 3), 3)
		return g.rows(g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(h, g.Param("w", 2, 2))))), 6)
	}},
}

// gather looks up the given number of rows of a table for each sample.
func (g *G) gather(table, ids *gorgonia.Node, perSample int) *gorgonia.Node {
	return g.Do(gorgonia.ByIndices(table, g.Do(gorgonia.Reshape(ids, tensor.Shape{g.Batch * perSample})), 0))
}
