package compile_test

import (
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// spelled builds the parts of a layer normalisation of rows of six, one after another.
type spelled struct {
	g *enginetest.G
	h node // [batch, 6]
}

func (s spelled) column(n node) node {
	return s.g.Do(gorgonia.Reshape(n, tensor.Shape{s.g.Batch, 1}))
}
func (s spelled) mean(n node) node { return s.g.Do(gorgonia.Mean(n, 1)) }
func (s spelled) less(n, by node) node {
	return s.g.Do(gorgonia.BroadcastSub(n, s.column(by), nil, []byte{1}))
}
func (s spelled) over(n, by node) node {
	return s.g.Do(gorgonia.BroadcastHadamardDiv(n, s.column(by), nil, []byte{1}))
}
func (s spelled) square(n node) node           { return s.g.Do(gorgonia.Square(n)) }
func (s spelled) plus(n node, by float64) node { return s.g.Do(gorgonia.Add(n, s.g.Number(by))) }
func (s spelled) root(n node) node             { return s.g.Do(gorgonia.Sqrt(n)) }

// A spelled-out normalisation becomes one instruction, and graphs that only resemble it don't. The gradient is always
// right.
func TestNormalisationIsRecognised(t *testing.T) {
	for name, c := range map[string]struct {
		found int
		draw  func(s spelled) node
	}{
		"by a quotient": {1, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(d, s.root(s.plus(s.mean(s.square(d)), 0.1)))
		}},
		"without ε": {1, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(d, s.root(s.mean(s.square(d))))
		}},
		"ε in front": {1, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(d, s.root(s.g.Do(gorgonia.Add(s.g.Number(0.1), s.mean(s.square(d))))))
		}},
		"by an inverse": {1, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			by := s.g.Do(gorgonia.Inverse(s.root(s.plus(s.mean(s.square(d)), 0.1))))
			return s.g.Do(gorgonia.BroadcastHadamardProd(d, s.column(by), nil, []byte{1}))
		}},
		"by an inverse in front": {1, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			by := s.g.Do(gorgonia.Inverse(s.root(s.plus(s.mean(s.square(d)), 0.1))))
			return s.g.Do(gorgonia.BroadcastHadamardProd(s.column(by), d, []byte{1}, nil))
		}},
		"by an inverse of the root": {1, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			by := s.g.Do(gorgonia.InverseSqrt(s.plus(s.mean(s.square(d)), 0.1)))
			return s.g.Do(gorgonia.BroadcastHadamardProd(d, s.column(by), nil, []byte{1}))
		}},
		"the deviation is read elsewhere": {1, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			z := s.over(d, s.root(s.plus(s.mean(s.square(d)), 0.1)))
			return s.g.Do(gorgonia.Add(s.g.Do(gorgonia.Tanh(z)), s.g.Do(gorgonia.HadamardProd(d, s.h))))
		}},
		"the root is read elsewhere": {1, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			root := s.root(s.plus(s.mean(s.square(d)), 0.1))
			return s.g.Do(gorgonia.BroadcastAdd(s.over(d, root), s.column(root), nil, []byte{1}))
		}},

		"ε after the root": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(d, s.plus(s.root(s.mean(s.square(d))), 0.1))
		}},
		"ε taken away": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(d, s.root(s.g.Do(gorgonia.Sub(s.mean(s.square(d)), s.g.Number(-0.1)))))
		}},
		"negative ε": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(d, s.root(s.plus(s.mean(s.plus(s.square(d), 0.2)), -0.1)))
		}},
		"a negative ε alone": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(d, s.root(s.plus(s.mean(s.square(d)), -1e-6)))
		}},
		"mean of another value": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.square(s.h)))
			return s.over(d, s.root(s.plus(s.mean(s.square(d)), 0.1)))
		}},
		"variance of another value": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(d, s.root(s.plus(s.mean(s.square(s.h)), 0.1)))
		}},
		"another deviation on top": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			e := s.less(s.g.Do(gorgonia.Tanh(s.h)), s.mean(s.h))
			return s.over(e, s.root(s.plus(s.mean(s.square(d)), 0.1)))
		}},
		"mean of cubes": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(d, s.root(s.plus(s.mean(s.square(s.square(d))), 0.1)))
		}},
		"a sum instead of a mean": {0, func(s spelled) node {
			d := s.less(s.h, s.g.Do(gorgonia.Sum(s.h, 1)))
			return s.over(d, s.root(s.plus(s.mean(s.square(d)), 0.1)))
		}},
		"a sum of squares": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(d, s.root(s.plus(s.g.Do(gorgonia.Sum(s.square(d), 1)), 0.1)))
		}},
		"divided by one less": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(d, s.root(s.plus(s.g.Do(gorgonia.Div(s.g.Do(gorgonia.Sum(s.square(d), 1)), s.g.Number(5))), 0.1)))
		}},
		"a number over the sum": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(d, s.root(s.plus(s.g.Do(gorgonia.Div(s.g.Number(6), s.plus(s.g.Do(gorgonia.Sum(s.square(d), 1)), 1))), 0.1)))
		}},
		"a scale in between": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			d = s.g.Do(gorgonia.BroadcastHadamardProd(d, s.g.Param("s", 1, 6), nil, []byte{0}))
			return s.over(d, s.root(s.plus(s.mean(s.square(d)), 0.1)))
		}},
		"a scale of the variance": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(d, s.root(s.plus(s.g.Do(gorgonia.Mul(s.mean(s.square(d)), s.g.Number(2))), 0.1)))
		}},
		"the mean itself, over the root": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(s.h, s.root(s.plus(s.mean(s.square(d)), 0.1)))
		}},
		"added instead of taken away": {0, func(s spelled) node {
			d := s.g.Do(gorgonia.BroadcastAdd(s.h, s.column(s.mean(s.h)), nil, []byte{1}))
			return s.over(d, s.root(s.plus(s.mean(s.square(d)), 0.1)))
		}},
		"the variance without its root": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(d, s.plus(s.mean(s.square(d)), 0.1))
		}},
		"times the root": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.g.Do(gorgonia.BroadcastHadamardProd(d, s.column(s.root(s.plus(s.mean(s.square(d)), 0.1))), nil, []byte{1}))
		}},
		"the root over the deviation": {0, func(s spelled) node {
			d := s.plus(s.square(s.less(s.h, s.mean(s.h))), 1)
			return s.g.Do(gorgonia.BroadcastHadamardDiv(s.column(s.root(s.plus(s.mean(s.square(d)), 0.1))), d, []byte{1}, nil))
		}},
		"divided by the inverse": {0, func(s spelled) node {
			d := s.less(s.h, s.mean(s.h))
			return s.over(d, s.g.Do(gorgonia.Inverse(s.root(s.plus(s.mean(s.square(d)), 0.1)))))
		}},
		"mean of a part": {0, func(s spelled) node {
			part := s.g.Do(gorgonia.Slice(s.h, nil, gorgonia.S(0, 3)))
			d := s.less(s.h, s.mean(part))
			return s.over(d, s.root(s.plus(s.mean(s.square(d)), 0.1)))
		}},
		"columns of rows": {0, func(s spelled) node {
			h := s.g.Do(gorgonia.Reshape(s.h, tensor.Shape{s.g.Batch, 3, 2}))
			row := func(n node) node { return s.g.Do(gorgonia.Reshape(n, tensor.Shape{s.g.Batch, 1, 2})) }
			d := s.g.Do(gorgonia.BroadcastSub(h, row(s.mean(h)), nil, []byte{1}))
			root := s.root(s.plus(s.mean(s.square(d)), 0.1))
			return s.g.Do(gorgonia.BroadcastHadamardDiv(d, row(root), nil, []byte{1}))
		}},
		"mean of rows, deviation of columns": {0, func(s spelled) node {
			h := s.g.Do(gorgonia.Reshape(s.h, tensor.Shape{s.g.Batch, 2, 3}))
			column := func(n node) node { return s.g.Do(gorgonia.Reshape(n, tensor.Shape{s.g.Batch, 2, 1})) }
			d := s.g.Do(gorgonia.BroadcastSub(h, column(s.g.Do(gorgonia.Mean(h, 2))), nil, []byte{2}))
			all := s.g.Do(gorgonia.Reshape(d, tensor.Shape{s.g.Batch, 6}))
			return s.over(all, s.root(s.plus(s.mean(s.square(all)), 0.1)))
		}},
		"rows within a sample": {1, func(s spelled) node {
			h := s.g.Do(gorgonia.Reshape(s.h, tensor.Shape{s.g.Batch, 2, 3}))
			column := func(n node) node { return s.g.Do(gorgonia.Reshape(n, tensor.Shape{s.g.Batch, 2, 1})) }
			d := s.g.Do(gorgonia.BroadcastSub(h, column(s.g.Do(gorgonia.Mean(h, 2))), nil, []byte{2}))
			root := s.root(s.plus(s.g.Do(gorgonia.Mean(s.square(d), 2)), 0.1))
			return s.g.Do(gorgonia.BroadcastHadamardDiv(d, column(root), nil, []byte{2}))
		}},
	} {
		build := func(g *enginetest.G) (compile.Source, error) {
			n := c.draw(spelled{g, g.Do(gorgonia.Mul(g.In("x", 4), g.Param("w", 4, 6)))})
			n = g.Do(gorgonia.Reshape(n, tensor.Shape{g.Batch, 6}))
			weighed := g.Do(gorgonia.Mul(n, gorgonia.NewConstant(tensor.New(tensor.WithShape(6, 1), tensor.WithBacking([]float32{1, -2, 0.5, 3, -1, 0.25})))))
			return g.Done(n, g.Do(gorgonia.Sum(weighed)))
		}
		t.Run(name, func(t *testing.T) {
			for _, batch := range []int{1, 3} {
				src, err := build(enginetest.NewG(batch, 3))
				p := program(t, src, err)
				if got := count(compile.Normalize, p.Forward); got != c.found || count(compile.Normalize, p.Predict) != c.found {
					t.Errorf("batch %d: %d normalisations, want %d:\n%v", batch, got, c.found, p)
				}
			}
			if name != "by an inverse of the root" { // whose gradient Gorgonia gets wrong
				agrees(t, build)
			}
		})
	}
}
