package enginetest

import (
	"github.com/dptrain/dptrain/internal/compile"
	"gorgonia.org/gorgonia"
)

// functions returns a graph for every elementwise function, so that none is taken for another: the compiler reads
// Gorgonia's own numbering by reflection. Arguments are kept where the function and its slope are finite.
func functions() map[string]Graph {
	type unary = func(*gorgonia.Node) (*gorgonia.Node, error)
	positive := func(f unary) unary {
		return func(n *gorgonia.Node) (*gorgonia.Node, error) {
			n, err := gorgonia.Exp(n)
			if err != nil {
				return nil, err
			}
			return f(n)
		}
	}
	out := map[string]Graph{}
	for name, f := range map[string]unary{
		"abs": gorgonia.Abs, "sin": gorgonia.Sin, "cos": gorgonia.Cos, "exp": gorgonia.Exp, "neg": gorgonia.Neg,
		"square": gorgonia.Square, "cube": gorgonia.Cube, "tanh": gorgonia.Tanh, "sigmoid": gorgonia.Sigmoid,
		"expm1": gorgonia.Expm1, "softplus": gorgonia.Softplus,
		"ln": positive(gorgonia.Log), "log2": positive(gorgonia.Log2), "sqrt": positive(gorgonia.Sqrt),
		"inverse": positive(gorgonia.Inverse), "inverse sqrt": positive(gorgonia.InverseSqrt), "log1p": positive(gorgonia.Log1p),
	} {
		out["function "+name] = Graph{20, func(g *G) (compile.Source, error) {
			h := g.Do(gorgonia.Mul(g.In("x", 4), g.Param("w", 4, 5)))
			return g.Squares(g.Do(f(h)))
		}}
	}
	type binary = func(a, b *gorgonia.Node) (*gorgonia.Node, error)
	for name, f := range map[string]binary{
		"add": gorgonia.Add, "sub": gorgonia.Sub, "mul": gorgonia.HadamardProd, "div": gorgonia.HadamardDiv, "pow": gorgonia.Pow,
		// A comparison alone has no gradient: it switches another value on and off, as a rectifier does.
		"lt":  switched(func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Lt(a, b, true) }),
		"gt":  switched(func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Gt(a, b, true) }),
		"lte": switched(func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Lte(a, b, true) }),
		"gte": switched(func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Gte(a, b, true) }),
	} {
		positive := func(g *G, x *gorgonia.Node, weight string) *gorgonia.Node {
			return g.Do(gorgonia.Exp(g.Do(gorgonia.Mul(x, g.Param(weight, 4, 5)))))
		}
		out["function "+name] = Graph{21, func(g *G) (compile.Source, error) {
			x := g.In("x", 4)
			a, b := positive(g, x, "w"), positive(g, x, "v")
			// The second term gives a comparison's second operand a gradient too.
			c := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(b))))
			return g.Done(a, g.Do(gorgonia.Add(c, g.Do(gorgonia.Sum(g.Do(f(a, b)))))))
		}}
		out["function "+name+" by a number"] = Graph{22, func(g *G) (compile.Source, error) {
			return g.Squares(g.Do(f(positive(g, g.In("x", 4), "w"), g.Number(1.5))))
		}}
		out["function "+name+" of a number"] = Graph{23, func(g *G) (compile.Source, error) {
			return g.Squares(g.Do(f(g.Number(0.7), positive(g, g.In("x", 4), "w"))))
		}}
	}
	return out
}

// switched multiplies an operand by a comparison of both.
func switched(compare func(a, b *gorgonia.Node) (*gorgonia.Node, error)) func(a, b *gorgonia.Node) (*gorgonia.Node, error) {
	return func(a, b *gorgonia.Node) (*gorgonia.Node, error) {
		on, err := compare(a, b)
		if err != nil {
			return nil, err
		}
		if a.IsScalar() {
			return gorgonia.HadamardProd(b, on)
		}
		return gorgonia.HadamardProd(a, on)
	}
}
