package enginetest

import (
	"fmt"
	"math/rand/v2"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Networks lists the paper's networks for images: cnn is MNIST's, mlp FashionMNIST's.
func Networks() []string { return []string{"cnn", "mlp"} }

// Network builds one of [Networks] for its data set.
func Network(name string, o models.Options) (train.Model, error) {
	switch name {
	case "cnn", "mlp":
		return models.New(name, []int{1, 28, 28}, 10, o)
	}
	return train.Model{}, fmt.Errorf("no network %q; there are %v", name, Networks())
}

// Source returns a model in the compiler's form.
func Source(m train.Model) compile.Source {
	return compile.Source{Inputs: m.Inputs, Params: m.Parameters, Output: m.Output, Cost: m.Cost}
}

// Bound returns a model as a compile.Source, with initial values bound that it draws from seed.
func Bound(m train.Model, seed rand.Source) (compile.Source, error) {
	for i, values := range m.Initial(seed) {
		p := m.Parameters[i]
		var backing any = values
		if p.Dtype() == tensor.Float64 {
			wide := make([]float64, len(values))
			for k, v := range values {
				wide[k] = float64(v)
			}
			backing = wide
		}
		if err := gorgonia.Let(p, tensor.New(tensor.WithShape(p.Shape()...), tensor.WithBacking(backing))); err != nil {
			return compile.Source{}, fmt.Errorf("bind parameter %q: %w", p.Name(), err)
		}
	}
	return Source(m), nil
}
