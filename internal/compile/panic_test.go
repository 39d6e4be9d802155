package compile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Compile returns an error that names the node for impossible graphs. Neither it nor later code panics.
func TestImpossibleGraphs(t *testing.T) {
	type g = *enginetest.G
	conv := func(g g, kernel, pad, stride int) *gorgonia.Node {
		x, w := g.In("x", 1, 4, 4), g.Param("w", 2, 1, kernel, kernel)
		h := g.Do(gorgonia.Conv2d(x, w, tensor.Shape{kernel, kernel}, []int{pad, pad}, []int{stride, stride}, []int{1, 1}))
		return h
	}
	for name, c := range map[string]struct {
		build func(g g) (compile.Source, error)
		want  string
	}{
		"window beyond its image": {func(g g) (compile.Source, error) { return g.Squares(conv(g, 6, 0, 3)) }, `doesn't fit into the 4×4 of "x"`},
		"pooling of padding alone": {func(g g) (compile.Source, error) {
			return g.Squares(g.Do(gorgonia.MaxPool2D(conv(g, 1, 0, 1), tensor.Shape{2, 2}, []int{2, 2}, []int{1, 1})))
		}, "padding alone"},
		"window beyond its image, computed": {func(g g) (compile.Source, error) {
			h := g.Do(gorgonia.Im2Col(g.In("x", 1, 4, 4), tensor.Shape{6, 6}, tensor.Shape{0, 0}, tensor.Shape{3, 3}, tensor.Shape{1, 1}))
			return g.Squares(g.Do(gorgonia.HadamardProd(h, g.Param("w", h.Shape()...))))
		}, `doesn't fit into the 4×4 of "x"`},
		"negative shape": {func(g g) (compile.Source, error) {
			h := g.Do(gorgonia.Im2Col(g.In("x", 1, 4, 4), tensor.Shape{9, 9}, tensor.Shape{0, 0}, tensor.Shape{1, 1}, tensor.Shape{1, 1}))
			return g.Done(nil, g.Do(gorgonia.Mul(g.Do(gorgonia.Sum(h)), g.Param("s"))))
		}, "doesn't fit"},
		"nil input": {func(g g) (compile.Source, error) {
			src, err := g.Squares(g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 2))))
			src.Inputs = append(src.Inputs, nil)
			return src, err
		}, "input 1 is nil"},
		"nil parameter": {func(g g) (compile.Source, error) {
			src, err := g.Squares(g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 2))))
			src.Params = append(src.Params, nil)
			return src, err
		}, "parameter 1 is nil"},
		"input of another graph": {func(g g) (compile.Source, error) {
			src, err := g.Squares(g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 2))))
			src.Inputs = append(src.Inputs, enginetest.NewG(g.Batch, 1).In("stranger", 3))
			return src, err
		}, `"stranger", isn't in the graph`},
		"output of another graph": {func(g g) (compile.Source, error) {
			src, err := g.Squares(g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 2))))
			src.Output = enginetest.NewG(g.Batch, 1).In("stranger", 3)
			return src, err
		}, `"stranger", isn't in the graph`},
		"operation of the wrong shapes": {func(g g) (compile.Source, error) {
			// Gorgonia infers a shape for the product of a 3×5 matrix and a vector of three, and fails to compute it.
			h := g.Do(gorgonia.Reshape(g.Do(gorgonia.Mul(g.In("x", 4), g.Param("w", 4, 15))), tensor.Shape{3 * g.Batch, 5}))
			return g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.Mul(h, g.Param("v", 3*g.Batch))))))
		}, "Mul(Reshape"},
		"axis of the wrong number": {func(g g) (compile.Source, error) {
			return g.Squares(g.Do(gorgonia.SoftMax(g.Do(gorgonia.Mul(g.In("x", 4), g.Param("w", 4, 3))), 5)))
		}, `at node "SoftMax(`},
		"element": {func(g g) (compile.Source, error) {
			return g.Done(nil, g.Do(gorgonia.At(g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 2))), 7, 7)))
		}, "operation At"},
		"contraction": {func(g g) (compile.Source, error) {
			x := g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 2)))
			return g.Squares(g.Do(gorgonia.Tensordot([]int{1}, []int{0}, x, g.Param("v", 2, 3))))
		}, "Tensordot"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, batch := range []int{1, 4} {
				src, err := c.build(enginetest.NewG(batch, 1))
				if err != nil {
					t.Skipf("Gorgonia refuses it: %v", err)
				}
				_, err = compile.Compile(src)
				if !errors.Is(err, compile.ErrSource) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("batch %d: got %v, want an error with %q", batch, err, c.want)
				}
				if err != nil && strings.Contains(err.Error(), "\n") {
					t.Errorf("batch %d: %q has more than one line", batch, err)
				}
			}
		})
	}
}

// Nil nodes, lists and graphs are errors.
func TestNilSources(t *testing.T) {
	good := func() compile.Source {
		g := enginetest.NewG(2, 1)
		src, err := g.Squares(g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 2))))
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
	for name, spoil := range map[string]func(*compile.Source){
		"everything": func(s *compile.Source) { *s = compile.Source{} },
		"cost":       func(s *compile.Source) { s.Cost = nil },
		"inputs":     func(s *compile.Source) { s.Inputs = gorgonia.Nodes{nil} },
		"parameters": func(s *compile.Source) { s.Params = gorgonia.Nodes{nil} },
		"empty node": func(s *compile.Source) { s.Cost = new(gorgonia.Node) },
	} {
		src := good()
		spoil(&src)
		if _, err := compile.Compile(src); !errors.Is(err, compile.ErrSource) {
			t.Errorf("%s: Compile gave %v", name, err)
		}
	}
}
