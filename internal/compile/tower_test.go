package compile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
)

// Graphs in which each node uses the previous node twice compile to a few instructions for each node, not to twice as
// many as for the previous one.
func TestTowers(t *testing.T) {
	const high = 40
	for name, draw := range map[string]func(g *enginetest.G) (compile.Source, error){
		"products of a weight by itself": func(g *enginetest.G) (compile.Source, error) {
			w := g.Param("w", 3, 3)
			for range high {
				w = g.Do(gorgonia.Mul(w, w))
			}
			return g.Squares(g.Do(gorgonia.Mul(g.In("x", 3), w)))
		},
		"products of a weight and its transpose": func(g *enginetest.G) (compile.Source, error) {
			w := g.Param("w", 3, 3)
			for range high {
				w = g.Do(gorgonia.Mul(w, g.Do(gorgonia.Transpose(w))))
			}
			return g.Squares(g.Do(gorgonia.Mul(g.In("x", 3), w)))
		},
		"sums of a cost and itself": func(g *enginetest.G) (compile.Source, error) {
			h := g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 3)))
			cost := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h))))
			for range high {
				cost = g.Do(gorgonia.Add(cost, cost))
			}
			return g.Done(h, cost)
		},
		"differences of sums of a cost and itself": func(g *enginetest.G) (compile.Source, error) {
			h := g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 3)))
			cost := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h))))
			for range high {
				cost = g.Do(gorgonia.Sub(g.Do(gorgonia.Add(cost, cost)), cost))
			}
			return g.Done(h, cost)
		},
		"sums of weight decay and itself": func(g *enginetest.G) (compile.Source, error) {
			w := g.Param("w", 3, 3)
			h := g.Do(gorgonia.Mul(g.In("x", 3), w))
			decay := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(w))))
			for range high {
				decay = g.Do(gorgonia.Mul(g.Number(0.5), g.Do(gorgonia.Add(decay, decay))))
			}
			return g.Done(h, g.Do(gorgonia.Add(g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h)))), decay)))
		},
		"weights of a log softmax": func(g *enginetest.G) (compile.Source, error) {
			l := g.Do(gorgonia.LogSoftMax(g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 3)))))
			v := g.In("y", 3)
			for range high {
				v = g.Do(gorgonia.Add(v, v))
			}
			return g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(l, v)))))
		},
		"functions of a parameter": func(g *enginetest.G) (compile.Source, error) {
			w := g.Param("w", 3, 3)
			for range high {
				w = g.Do(gorgonia.HadamardProd(w, g.Do(gorgonia.Add(w, g.Do(gorgonia.Transpose(w))))))
			}
			return g.Squares(g.Do(gorgonia.Mul(g.In("x", 3), w)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			src, err := draw(enginetest.NewG(4, 1))
			if err != nil {
				t.Fatal(err)
			}
			p, err := compile.Compile(src)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(p.Prepare) + len(p.Forward) + len(p.Backward); n > 12*high {
				t.Errorf("%d instructions for %d nodes", n, high)
			}
		})
	}
}

// Factors that overflow are refused: gradients that aren't finite contribute nothing, and a run would take steps of
// noise alone.
func TestFactorsThatOverflow(t *testing.T) {
	for name, draw := range map[string]func(g *enginetest.G) *gorgonia.Node{
		"of a cost": func(g *enginetest.G) *gorgonia.Node {
			return g.Do(gorgonia.Sum(g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 3)))))
		},
		"of its decay": func(g *enginetest.G) *gorgonia.Node {
			return g.Do(gorgonia.Sum(g.Do(gorgonia.Square(g.Param("v", 3)))))
		},
	} {
		g := enginetest.NewG(4, 1)
		h := g.Do(gorgonia.Mul(g.In("y", 3), g.Param("u", 3, 3)))
		cost := draw(g)
		for range 20 {
			cost = g.Do(gorgonia.Mul(cost, g.Number(1e30)))
		}
		src, err := g.Done(h, g.Do(gorgonia.Add(g.Do(gorgonia.Sum(h)), cost)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compile.Compile(src); !errors.Is(err, compile.ErrSource) || !strings.Contains(err.Error(), "finite") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
