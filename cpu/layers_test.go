package cpu_test

import (
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/models"
	G "gorgonia.org/gorgonia"
)

// The engine agrees with Gorgonia on the layers of package models, with batches as large as other axes.
func TestLayers(t *testing.T) {
	const tokens, width, heads, classes = 4, 4, 2, 4
	mask := func(b *models.Builder) *G.Node { // of about half of the tokens
		return b.Do(G.Gt(b.Input("mask", tokens), G.NewConstant(float32(0)), true))
	}
	for name, layer := range map[string]func(b *models.Builder, x *G.Node) *G.Node{
		"linear":     func(b *models.Builder, x *G.Node) *G.Node { return b.Linear("l", x, 3) },
		"layer norm": func(b *models.Builder, x *G.Node) *G.Node { return b.LayerNorm("n", b.Linear("l", x, 3)) },
		"lstm":       func(b *models.Builder, x *G.Node) *G.Node { return b.LSTM("r", x, 4, mask(b)) },
		"gru":        func(b *models.Builder, x *G.Node) *G.Node { return b.GRU("r", b.GRU("s", x, 1, nil), 4, mask(b)) },
		"attention": func(b *models.Builder, x *G.Node) *G.Node {
			return b.Attention("a", x, heads, models.AttentionOptions{Mask: mask(b)})
		},
		"causal attention": func(b *models.Builder, x *G.Node) *G.Node {
			x = b.Add(x, b.Attention("a", x, heads, models.AttentionOptions{Causal: true}))
			return b.Attention("b", b.Add(x, b.Parameter("p", models.Normal(1), 1, tokens, width)), 1, models.AttentionOptions{Causal: true})
		},
		"a constant": func(b *models.Builder, x *G.Node) *G.Node {
			return b.Multiply(b.Linear("l", x, 2), b.Constant([]float32{1, -2}, 1, 1, 2))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, integers := range []bool{true, false} {
				suite(compiled).CheckGraph(t, func(batch int) (compile.Source, error) {
					m, err := models.Build(batch, func(b *models.Builder) (*G.Node, *G.Node) {
						x := layer(b, b.Embedding("words", b.Integers("ids", tokens), 5, width))
						logits := b.Linear("out", x, classes)
						if integers {
							return logits, b.CrossEntropy(logits, b.Integers("y", tokens), nil)
						}
						return logits, b.CrossEntropy(logits, b.Input("y", tokens, classes), b.Do(G.Square(b.Input("weights", tokens))))
					})
					if err != nil {
						return compile.Source{}, err
					}
					return bound(m)
				}, 1, nil)
			}
		})
	}
}
