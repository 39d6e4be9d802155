package released

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/internal/safetensors"
)

// Options returns the options of the network that the description names.
func (m Model) Options() networks.Options {
	return networks.Options{Activation: networks.TemperedSigmoid(m.Activation), Vocabulary: m.Vocabulary}
}

// Build builds the network that the description names.
func (m Model) Build() (networks.Model, error) {
	return networks.New(m.Network, m.Shape, m.Outputs, m.Options())
}

// Described returns the layers of the network that the description names.
func (m Model) Described() ([]networks.Layer, error) {
	return networks.Layers(m.Network, m.Shape, m.Outputs, m.Options())
}

// Values returns the values of the network's parameters, in their order, of tensors that [Read] returned with m.
func (m Model) Values(network networks.Model, tensors []safetensors.Tensor) ([][]float32, error) {
	tensors, err := m.graphLayouts(tensors)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Network, err)
	}
	values := make([][]float32, len(network.Parameters))
	for i, p := range network.Parameters {
		at := slices.IndexFunc(tensors, func(t safetensors.Tensor) bool { return t.Name == p.Name() })
		if at < 0 || !slices.Equal(tensors[at].Shape, []int(p.Shape())) || tensors[at].Ints != nil {
			return nil, fmt.Errorf("model %s takes a parameter %q of shape %v, which isn't there", m.Network, p.Name(), p.Shape())
		}
		values[i] = tensors[at].Data
	}
	if len(tensors) != len(values) {
		return nil, fmt.Errorf("%d parameters, and model %s takes %d", len(tensors), m.Network, len(values))
	}
	return values, nil
}

// graphLayouts returns tensors in the layouts of the graph, in which earlier versions released them.
func (m Model) graphLayouts(tensors []safetensors.Tensor) ([]safetensors.Tensor, error) {
	if len(m.Layers) == 0 {
		return tensors, nil
	}
	parameters, err := Parameters[networks.Parameter](tensors)
	if err == nil {
		parameters, err = FromPyTorch(m, parameters)
	}
	if err != nil {
		return nil, err
	}
	return Tensors(parameters), nil
}

// Parameters returns tensors as parameters.
func Parameters[P ~networks.Parameter](tensors []safetensors.Tensor) ([]P, error) {
	out := make([]P, len(tensors))
	for i, t := range tensors {
		if t.Ints != nil {
			return nil, fmt.Errorf("%q holds integers, which are no parameters", t.Name)
		}
		out[i] = P(networks.Parameter{Name: t.Name, Shape: t.Shape, Values: t.Data})
	}
	return out, nil
}

// Tensors returns parameters as tensors.
func Tensors[P ~networks.Parameter](parameters []P) []safetensors.Tensor {
	out := make([]safetensors.Tensor, len(parameters))
	for i, p := range parameters {
		p := networks.Parameter(p)
		out[i] = safetensors.Tensor{Name: p.Name, Shape: p.Shape, Data: p.Values}
	}
	return out
}

// FromPyTorch converts the parameters of a described model to the graph's layouts. It checks that the description has
// the layers of the network that it names.
func FromPyTorch[P ~networks.Parameter](m Model, parameters []P) ([]P, error) {
	if layers, err := m.Described(); err != nil || !slices.Equal(layers, m.Layers) {
		return nil, errors.New("its layers in model.json are not those of the model; restore the file")
	}
	return networks.FromPyTorch(m.Layers, parameters)
}

// Release returns the contents of the two files of a described network with the given parameters in the graph's
// layouts. It adds the layers to the description.
func Release[P ~networks.Parameter](m Model, parameters []P) (map[string][]byte, error) {
	layers, err := m.Described()
	if err != nil {
		return nil, err
	}
	if parameters, err = networks.ToPyTorch(layers, parameters); err != nil {
		return nil, err
	}
	m.Layers = layers
	tensors := Tensors(parameters)
	if p := infinite(tensors); p != "" {
		return nil, fmt.Errorf("parameter %q has values that aren't finite", p)
	}
	if !m.classed() {
		return nil, fmt.Errorf("%d outputs and %d classes", m.Outputs, len(m.Classes))
	}
	return m.Files(tensors, map[string]string{"activation": m.Activation.String(), "dataset": m.Dataset, "model": m.Network})
}
