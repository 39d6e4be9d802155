package compile_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The table of refusals shows every reason that the code gives, and so does the list of operations.
func TestEveryReasonIsShown(t *testing.T) {
	shown := map[string]bool{}
	for _, r := range refusals {
		shown[r.want] = true
	}
	given := reasons(t)
	for _, o := range compile.Operations() {
		if o.Refused != "" {
			given[o.Refused] = "the list's " + o.Kind
		}
	}
	for reason, where := range given {
		pattern := regexp.MustCompile("%[dv]").ReplaceAllString(regexp.QuoteMeta(reason), ".+")
		found := false
		for s := range shown {
			found = found || regexp.MustCompile("^"+pattern+"(; use .*)?$").MatchString(s)
		}
		if !found {
			t.Errorf("%s: no graph shows that an operation is refused because %q", where, reason)
		}
	}
	if len(given) < 35 {
		t.Errorf("found %d reasons only: the test shows nothing", len(given))
	}
}

// reasons returns the reasons, or formats of some, of all calls of refuse and mixes, and their positions.
func reasons(t *testing.T) map[string]string {
	t.Helper()
	constants, calls := map[string]string{}, map[ast.Expr]string{}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if len(n.Values) == 1 {
					if text, ok := literal(n.Values[0]); ok {
						constants[n.Names[0].Name] = text
					}
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "refuse" || f.Name == "mixes") {
					calls[n.Args[1]] = fmt.Sprint(f.Name, " in ", parsed.Name.Name)
				}
			}
			return true
		})
	}
	out := map[string]string{}
	for e, where := range calls {
		switch e := e.(type) {
		case *ast.Ident:
			text, ok := constants[e.Name]
			if !ok {
				t.Errorf("%s: no constant %s", where, e.Name)
			}
			out[text] = where
		case *ast.SelectorExpr: // the list's own reason
		case *ast.CallExpr:
			if text, ok := literal(e.Args[0]); ok && text != "%s; use %s" {
				out[text] = where
			}
		default:
			text, ok := literal(e)
			if !ok {
				t.Errorf("%s: a reason of another form", where)
			}
			out[text] = where
		}
	}
	return out
}

// literal returns a string, or a constant that ofSum begins.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	}
	return "", false
}

// insteads has a graph for each alternative that an error suggests.
var insteads = map[string]func(g *enginetest.G) node{
	"Broadcast… of a parameter along the batch axis alone": func(g *enginetest.G) node {
		return g.Do(gorgonia.BroadcastAdd(hidden(g, 2), g.Param("b", 1, 2), nil, []byte{0}))
	},
	"Concat along another axis": func(g *enginetest.G) node { return g.Do(gorgonia.Concat(1, hidden(g, 2), g.In("y", 2))) },
	"Concat, or Broadcast… of an axis of length one": func(g *enginetest.G) node {
		c := g.Do(gorgonia.Concat(1, hidden(g, 2), g.In("y", 1)))
		return g.Do(gorgonia.BroadcastAdd(c, g.In("z", 1), nil, []byte{1}))
	},
	"BroadcastHadamardProd by a row, which is what a product by a diagonal matrix does": func(g *enginetest.G) node {
		return g.Do(gorgonia.BroadcastHadamardProd(hidden(g, 2), g.Param("diagonal", 1, 2), nil, []byte{0}))
	},
	"Mul of two matrices": func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(hidden(g, 2), g.Do(gorgonia.Mul(g.Param("p", 2, 3), g.Param("q", 3, 2)))))
	},
	"Mul(x, w) with a batch-first x": func(g *enginetest.G) node { return hidden(g, 2) },
	"NewConstant of a tensor":        func(g *enginetest.G) node { return g.Do(gorgonia.Mul(hidden(g, 2), matrix(2, 1))) },
	"Reshape and Mul or BatchedMatMul": func(g *enginetest.G) node {
		rows := g.Do(gorgonia.Mul(g.Do(gorgonia.Reshape(hidden(g, 6), tensor.Shape{2 * g.Batch, 3})), g.Param("v", 3, 2)))
		h := g.Do(gorgonia.Reshape(rows, tensor.Shape{g.Batch, 2, 2}))
		return g.Do(gorgonia.BatchedMatMul(h, h))
	},
	"Reshape to a column and a row and multiply them by Mul": func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(g.Do(gorgonia.Reshape(vector(g, ""), tensor.Shape{g.Batch, 1})), g.Do(gorgonia.Reshape(g.Param("v", 3), tensor.Shape{1, 3}))))
	},
	"Slice": func(g *enginetest.G) node { return g.Do(gorgonia.Slice(hidden(g, 4), nil, gorgonia.S(1))) },
	"Slice or Reshape, and Mean": func(g *enginetest.G) node {
		h := g.Do(gorgonia.Mean(g.Do(gorgonia.Reshape(images(g), tensor.Shape{g.Batch, 4, 2, 4})), 2))
		return g.Do(gorgonia.Mean(g.Do(gorgonia.Slice(h, nil, nil, gorgonia.S(0, 2))), 2))
	},
	"SoftMax": func(g *enginetest.G) node { return g.Do(gorgonia.Square(g.Do(gorgonia.SoftMax(hidden(g, 3))))) },
	"slices that are the whole axis without an overlap, Reshape to an axis of parts, an input for each part, or Sum of a product with a constant of zeros and ones": func(g *enginetest.G) node {
		x := g.In("x", 600)
		parts := []*gorgonia.Node{g.Do(gorgonia.Slice(x, nil, gorgonia.S(0, 300))), g.Do(gorgonia.Slice(x, nil, gorgonia.S(300, 600)))}
		for i, p := range parts {
			part := g.Do(gorgonia.Slice(g.Do(gorgonia.Reshape(x, tensor.Shape{g.Batch, 2, 300})), nil, gorgonia.S(i)))
			parts = append(parts, g.Do(gorgonia.Sub(p, part)))
		}
		return g.Do(gorgonia.Square(g.Do(gorgonia.Mul(g.Do(gorgonia.Concat(1, parts...)), g.Param("w", 1200, 2)))))
	},
	"Sum for both or Mean for both": func(g *enginetest.G) node {
		a, b := g.Do(gorgonia.Square(hidden(g, 2))), g.In("y", 2)
		return g.Do(gorgonia.Add(g.Do(gorgonia.Mean(a)), g.Do(gorgonia.Mean(b))))
	},
	"Sum or Mean of the samples' costs": func(g *enginetest.G) node { return g.Do(gorgonia.Mean(hidden(g, 2))) },
	"Sum over all axes at once":         func(g *enginetest.G) node { return g.Do(gorgonia.Sum(images(g))) },
	"Sum over all axes at once before it": func(g *enginetest.G) node {
		return g.Do(gorgonia.Neg(g.Do(gorgonia.Sum(hidden(g, 2)))))
	},
	"Transpose, so that they pick rows of a table": func(g *enginetest.G) node {
		return g.Do(gorgonia.Add(hidden(g, 2), g.Do(gorgonia.ByIndices(g.Do(gorgonia.Transpose(g.Param("e", 2, 4))), g.Ids("ids"), 0))))
	},
	"a cost of operations that dptrain knows": func(g *enginetest.G) node { return hidden(g, 2) },
	"a number of groups that divides that of channels": func(g *enginetest.G) node {
		return g.Do(gorgonia.GroupNorm(images(g), g.Param("s", 1, 2, 1, 1), g.Param("b", 1, 2, 1, 1), 2, 2, 1e-5))
	},
	"a probability from 0 to below 1": func(g *enginetest.G) node { return g.Do(gorgonia.Dropout(hidden(g, 2), 0.9)) },
	"a range whose length is a multiple of its step": func(g *enginetest.G) node {
		return g.Do(gorgonia.Slice(hidden(g, 5), nil, gorgonia.S(1, 5, 2)))
	},
	"all samples, and an input that says which count": func(g *enginetest.G) node {
		return g.Do(gorgonia.HadamardProd(hidden(g, 2), g.In("counts", 2)))
	},
	"GroupNorm, or a sample's own values normalised by Mean, BroadcastSub, Square, Sqrt and BroadcastHadamardDiv": func(g *enginetest.G) node {
		s := spelled{g, hidden(g, 6)}
		d := s.less(s.h, s.mean(s.h))
		return s.over(d, s.root(s.plus(s.mean(s.square(d)), 0.1)))
	},
	"an input of floats that is 1 at what is picked and 0 elsewhere, multiplied and summed": func(g *enginetest.G) node {
		return g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(hidden(g, 4), g.In("picked", 4))), 1))
	},
	"a mean and a deviation from 0, or two ends in ascending order, whose difference single precision holds too": gaussian,
	"models.GaussianRandomNode and models.UniformRandomNode, which have names":                                   gaussian,
	"models.UniformRandomNode and Lt, which is 1 where a number is below a probability": func(g *enginetest.G) node {
		u := g.Random("coins", gorgonia.UniformRandomNode(gorgonia.NewGraph(), tensor.Float32, 0, 1, g.Batch, 2))
		return g.Do(gorgonia.HadamardProd(hidden(g, 2), g.Do(gorgonia.Lt(u, g.Number(0.5), true))))
	},
	"one of type Float32": gaussian,
	"one with the batch as its first axis, and Reshape for several rows of a sample": gaussian,
	"constants of floating-point numbers, and Slice and Concat to pick by constants": func(g *enginetest.G) node {
		h := g.Do(gorgonia.Mul(hidden(g, 2), matrix(2, 5)))
		return g.Do(gorgonia.Concat(1, g.Do(gorgonia.Slice(h, nil, gorgonia.S(3, 5))), g.Do(gorgonia.Slice(h, nil, gorgonia.S(0, 2)))))
	},
	"integers as indices of ByIndices only, and floating-point numbers elsewhere": func(g *enginetest.G) node {
		return g.Do(gorgonia.Add(hidden(g, 2), g.Do(gorgonia.ByIndices(g.Param("e", 4, 2), g.Ids("ids"), 0))))
	},
	"it on values of samples": func(g *enginetest.G) node { return g.Do(gorgonia.Dropout(g.Do(gorgonia.Max(images(g), 1)), 0.5)) },
	"numbers that don't come of the batch axis": func(g *enginetest.G) node {
		h := hidden(g, 3)
		return g.Do(gorgonia.Mul(h, g.Do(gorgonia.SizeOf(1, h))))
	},
	"one type throughout the graph": func(g *enginetest.G) node { return hidden(g, 2) },
	"operands of fitting shapes":    func(g *enginetest.G) node { return g.Do(gorgonia.Mul(hidden(g, 2), g.Param("v", 2))) },
	"operands of one shape":         func(g *enginetest.G) node { return g.Do(gorgonia.Add(hidden(g, 1), g.In("y", 1))) },
	"operations of package gorgonia": func(g *enginetest.G) node {
		return g.Do(gorgonia.Tanh(hidden(g, 2)))
	},
	"operations that dptrain knows": func(g *enginetest.G) node { return g.Do(gorgonia.Tanh(hidden(g, 2))) },
	"samples of channels, rows and columns": func(g *enginetest.G) node {
		return g.Do(gorgonia.MaxPool2D(g.Do(gorgonia.Upsample2D(images(g), 2)), tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
	},
	"shapes and orders of axes with the batch in front": func(g *enginetest.G) node {
		return g.Do(gorgonia.Transpose(g.Do(gorgonia.Reshape(hidden(g, 6), tensor.Shape{g.Batch, 3, 2})), 0, 2, 1))
	},
	"the parameter itself": func(g *enginetest.G) node { return g.Do(gorgonia.Mul(hidden(g, 3), g.Param("p", 3, 2))) },
	"the parameter itself, times a number": func(g *enginetest.G) node {
		p := g.Do(gorgonia.Mul(g.Param("p", 1, 2), g.Number(3)))
		return g.Do(gorgonia.BroadcastAdd(hidden(g, 2), p, nil, []byte{0}))
	},
	"the parameter in the samples' own costs, before they are summed; or, for weight decay, one Sum of the Square of a whole parameter, times a number": func(g *enginetest.G) node {
		p := g.Param("p", 1, 2)
		cost := g.Do(gorgonia.Sum(g.Do(gorgonia.BroadcastHadamardProd(hidden(g, 2), p, nil, []byte{0}))))
		return g.Do(gorgonia.Add(cost, g.Do(gorgonia.Mul(g.Number(0.1), g.Do(gorgonia.Sum(g.Do(gorgonia.Square(p))))))))
	},
	"the same padding on both sides": func(g *enginetest.G) node {
		return g.Do(gorgonia.MaxPool2D(images(g), tensor.Shape{2, 2}, []int{1, 0}, []int{1, 1}))
	},
}

// try compiles the graph of an alternative that an error suggests.
func try(t *testing.T, instead string) {
	t.Helper()
	draw, ok := insteads[instead]
	if !ok {
		t.Errorf("no graph uses %q", instead)
		return
	}
	for _, batch := range []int{1, 4} {
		g := enginetest.NewG(batch, 1)
		n := draw(g)
		if !n.IsScalar() {
			n = g.Do(gorgonia.Sum(n))
		}
		src, err := g.Done(nil, n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compile.Compile(src); err != nil {
			t.Errorf("batch %d: to use %q: %v", batch, instead, err)
		}
	}
}

func gaussian(g *enginetest.G) node {
	return g.Do(gorgonia.Add(hidden(g, 2), g.Random("noise", gorgonia.GaussianRandomNode(gorgonia.NewGraph(), tensor.Float32, 0, 1, g.Batch, 2))))
}
