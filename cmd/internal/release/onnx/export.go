package onnx

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/build"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/train"
)

// Options are the choices of an export.
type Options struct {
	// Encoded makes one input of encoded samples, the network's own input, in place of columns or of images.
	Encoded bool
	// Texts, if it isn't nil, makes categories inputs of texts, and the class an output "label" of texts, by the
	// operator LabelEncoder of the domain ai.onnx.ml, as scikit-learn's converters do. It returns the position in a
	// list of categories of each text that stands for one.
	Texts func(categories []string) map[string]int
}

// Value is an input or an output of a graph.
type Value struct {
	Name    string `json:"name"`
	Type    string `json:"type"`              // of its elements
	Shape   []int  `json:"shape"`             // without the first axis, the number of rows
	Meaning string `json:"meaning,omitempty"` // for people

	of dtype
}

// Signature has the inputs and the outputs of a graph.
type Signature struct {
	Inputs  []Value `json:"inputs"`
	Outputs []Value `json:"outputs"`
}

// maxFile bounds the parameters of a file. Protocol Buffers allows 2 GiB; half a GiB is left for all else.
const maxFile = 3 << 29

// Export returns a released model as a file of ONNX. m must have its layers, and parameters be in the layouts of
// [networks.ToPyTorch]. The error names the part that can't be exported.
func Export(m release.Model, parameters []train.Parameter, o Options) ([]byte, Signature, error) {
	file, signature, err := export(m, parameters, o)
	if err != nil {
		return nil, Signature{}, fmt.Errorf("export the model: %w", err)
	}
	return file, signature, nil
}

func export(m release.Model, parameters []train.Parameter, o Options) ([]byte, Signature, error) {
	if _, err := networks.FromPyTorch(m.Layers, parameters); err != nil {
		return nil, Signature{}, err
	}
	var in struct {
		Table *table.Schema `json:"table"`
	}
	if len(m.Input) > 0 {
		if err := json.Unmarshal(m.Input, &in); err != nil {
			return nil, Signature{}, fmt.Errorf("its input: %w", err)
		}
	}
	g := &graph{used: map[string]bool{}, texts: o.Texts}
	n := &network{graph: g, activation: m.Activation, parameters: map[string]train.Parameter{}}
	size := 0
	for _, p := range parameters {
		n.parameters[p.Name] = p
		size += 4 * len(p.Values)
	}
	if size > maxFile {
		return nil, Signature{}, fmt.Errorf("%d bytes of parameters; a file has up to %d", size, maxFile)
	}
	x, err := n.samples(m, in.Table, o)
	if err != nil {
		return nil, Signature{}, err
	}
	if len(m.Shape) == 2 && m.Layers[0].Kind == networks.KindConv2d {
		x = g.unsqueeze(x, 1) // the only channel
	}
	for _, l := range m.Layers {
		if x, err = n.layer(l, x); err != nil {
			return nil, Signature{}, err
		}
	}
	if m.Task == release.Regression {
		g.number(x, in.Table)
	} else {
		g.classes(x, m)
	}
	description, err := plain(m)
	if err != nil {
		return nil, Signature{}, err
	}
	return g.model(build.Current().Version, [2]string{"model.json", description}), Signature{g.inputs, g.outputs}, nil
}

// plain returns a value as JSON. People read it, so characters such as < stay as they are.
func plain(value any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return strings.TrimSpace(b.String()), err
}

// positionIn explains a value that counts from 0 in a list.
func positionIn(of []string) string { return "position in " + list(of) }

func list(of []string) string {
	text, err := plain(of)
	if err != nil {
		panic(err) // texts can always be encoded
	}
	return text
}

// samples adds the inputs and returns the samples that they make.
func (n *network) samples(m release.Model, s *table.Schema, o Options) (string, error) {
	used := func(name string) string { n.used[name] = true; return name }
	switch {
	case m.Vocabulary > 0:
		n.tokens = n.input(used("tokens"), int64s, "of "+m.Tokens+"; 0 is padding", m.Shape...)
		return n.tokens, nil
	case o.Encoded:
		return n.input(used("x"), float, "encoded samples", m.Shape...), nil
	case s != nil:
		return n.columns(s, m.Shape)
	case m.Features != "":
		return n.input(used("features"), float, "of "+m.Features, m.Shape...), nil
	case m.Image != nil:
		return n.normalised(used("image"), *m.Image)
	}
	return n.input(used("x"), float, "samples", m.Shape...), nil
}

// normalised adds an input of images' bytes, and returns (byte/255 - mean)/std.
func (n *network) normalised(name string, image release.Image) (string, error) {
	channels := image.Shape[0]
	if len(image.Mean) != channels || len(image.Std) != channels {
		return "", fmt.Errorf("images of %d channels with %d means and %d standard deviations", channels, len(image.Mean), len(image.Std))
	}
	each := func(of func(i int) float64) string {
		values := make([]float32, channels)
		for i := range values {
			values[i] = float32(of(i))
		}
		return n.floats([]int{1, channels, 1, 1}, values...)
	}
	x := n.cast(n.input(name, uint8s, "bytes", image.Shape...), float)
	// byte/(255 std) - mean/std has one rounding of a constant fewer than the definition.
	x = n.op("Div", []string{x, each(func(i int) float64 { return 255 * image.Std[i] })})
	return n.op("Sub", []string{x, each(func(i int) float64 { return image.Mean[i] / image.Std[i] })}), nil
}

// classes adds the outputs of a classification.
func (g *graph) classes(logits string, m release.Model) {
	temperature := cmp.Or(m.Temperature, 1)
	meaning := ""
	if len(m.Classes) > 0 {
		meaning = positionIn(m.Classes)
	}
	first := []attribute{intOf("axis", 1), intOf("keepdims", 0)}
	switch {
	case g.texts == nil:
		g.output(Value{Name: "class", of: int64s, Meaning: meaning}, "ArgMax", []string{logits}, first...)
	case len(m.Classes) == 0: // they are numbers
		g.output(Value{Name: "label", of: int64s}, "ArgMax", []string{logits}, first...)
	default:
		all := make([]int, len(m.Classes))
		for i := range all {
			all[i] = i
		}
		g.output(Value{Name: "label", of: texts, Meaning: "one of " + list(m.Classes)}, labelEncoder, []string{g.op("ArgMax", []string{logits}, first...)},
			intsOf("keys_int64s", all...), textsOf("values_strings", m.Classes...))
	}
	scaled := g.op("Div", []string{logits, g.floats(nil, float32(temperature))})
	g.output(Value{Name: "probabilities", Shape: []int{m.Outputs}, of: float}, "Softmax", []string{scaled}, intOf("axis", 1))
	g.output(Value{Name: "logits", Shape: []int{m.Outputs}, of: float}, "Identity", []string{logits})
}

// number adds the output of a regression.
func (g *graph) number(x string, s *table.Schema) {
	x = g.cast(g.op("Squeeze", []string{x, g.ints(1)}), double)
	if s != nil && s.Label.Scale != nil {
		x = g.op("Mul", []string{x, g.double(s.Label.Scale.Divisor)})
		x = g.op("Add", []string{x, g.double(s.Label.Scale.Shift)})
	}
	if s != nil && s.Label.Clip != nil {
		x = g.clip(x, *s.Label.Clip)
	}
	g.output(Value{Name: "value", of: double, Meaning: "in the unit of the file"}, "Identity", []string{x})
}
