package models_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/models"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Random nodes of one shape are nodes of their own, each with its law (of a deviation of 0 and a mean of 1, too), in
// graphs with and without a Builder, and no other node takes their names.
func TestRandomNodes(t *testing.T) {
	m, err := models.Build(2, func(b *models.Builder) (output, cost *gorgonia.Node) {
		h := b.Linear("h", b.Input("x", 3), 5)
		output = b.Do(gorgonia.Add(b.Do(gorgonia.HadamardProd(h, b.GaussianNoise("a", 1, 0, 5))), b.GaussianNoise("b", 2, 3, 5)))
		output = b.Do(gorgonia.HadamardProd(output, b.UniformNoise("c", -1, 4, 5)))
		raw := b.Do(models.UniformRandomNode(h.Graph(), "d", tensor.Float32, 6, 13, 2, 5))
		output = b.Do(gorgonia.Add(output, b.Do(gorgonia.Add(raw, b.Do(models.GaussianRandomNode(h.Graph(), "e", tensor.Float32, 8, 9, 2, 5))))))
		return output, b.Do(gorgonia.Sum(b.Do(gorgonia.Square(output))))
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(source(m))
	if err != nil {
		t.Fatal(err)
	}
	laws := map[string]bool{}
	for i, in := range p.Forward {
		if in.Op == compile.Normals || in.Op == compile.Uniforms {
			laws[fmt.Sprintf("%v·%v+%v", in.Op, p.Forward[i+1].Scalar, p.Forward[i+2].Scalar)] = true
		}
	}
	if !maps.Equal(laws, map[string]bool{"normals·0+1": true, "normals·3+2": true, "uniforms·5+-1": true, "uniforms·7+6": true, "normals·9+8": true}) {
		t.Errorf("the nodes are %v", laws)
	}

	for name, f := range map[string]func(b *models.Builder) *gorgonia.Node{
		"two noises": func(b *models.Builder) *gorgonia.Node {
			b.GaussianNoise("x", 0, 1, 3)
			return b.UniformNoise("x", 0, 1, 3)
		},
		"noise and an input": func(b *models.Builder) *gorgonia.Node { b.Input("x", 3); return b.GaussianNoise("x", 0, 1, 3) },
		"an input and noise": func(b *models.Builder) *gorgonia.Node { b.GaussianNoise("x", 0, 1, 3); return b.Input("x", 3) },
		"a parameter and noise": func(b *models.Builder) *gorgonia.Node {
			b.GaussianNoise("x", 0, 1, 3)
			return b.Parameter("x", models.Value(1), 2, 3)
		},
		"no name": func(b *models.Builder) *gorgonia.Node { return b.GaussianNoise("", 0, 1, 3) },
	} {
		m, err := models.Build(2, func(b *models.Builder) (output, cost *gorgonia.Node) {
			n := b.Do(gorgonia.Add(f(b), b.Input("in", 3)))
			return nil, b.Do(gorgonia.Sum(b.Add(n, b.Parameter("w", models.Value(1), 1, 3))))
		})
		if err == nil {
			_, err = compile.Compile(source(m))
		}
		if err == nil || !strings.Contains(err.Error(), `the name "`) && !strings.Contains(err.Error(), `"x" is computed`) {
			t.Errorf("%s: error %v, want one about the name", name, err)
		}
	}
}
