package networks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gorgonia.org/gorgonia"
)

// Names returns the names of the models that [New] builds.
func Names() []string { return []string{"cnn", "embedding", "linear", "mlp"} }

// New builds the network of a specification for samples of the given shape: see package models.
func New(spec string, shape []int, outputs int, o Options) (Model, error) {
	return newBuilder(o).build(func(b *builder) (output, cost *gorgonia.Node) { return b.named(spec, shape, outputs) })
}

// named builds the network of a specification: see [New].
func (b *builder) named(spec string, shape []int, outputs int) (output, cost *gorgonia.Node) {
	name, widths, err := parse(spec)
	Require(err == nil, "%w", err)
	size := 1
	for _, axis := range shape {
		Require(axis >= 1 && axis <= maxValues/size, "samples of shape %v: a sample has 1 to %d values", shape, maxValues)
		size *= axis
	}
	Require(outputs >= 1 && outputs <= maxValues, "%d outputs: a model has one for each class, or 1 to regress on", outputs)
	texts := name == "embedding"
	Require(!texts || b.opts.Vocabulary != 0, "embedding takes texts, and a sample has the shape %v of numbers; take linear or mlp", shape)
	Require(texts || b.opts.Vocabulary == 0, "%s takes numbers, and samples are texts; take embedding", name)
	if len(shape) > 1 && name != "cnn" && !texts {
		b.layer(Layer{Kind: KindFlatten})
	}
	switch name {
	case "cnn":
		return b.cnn(shape, outputs)
	case "embedding":
		return b.embeddingClassifier(b.opts.Vocabulary, size, paperWidth, paperWidth, outputs)
	default: // linear has no widths
		return b.mlp(slices.Concat([]int{size}, widths, []int{outputs})...)
	}
}

// Activated reports whether the models that [New] builds for spec use Options.Activation.
func Activated(spec string) bool {
	name, _, _ := parse(spec)
	return name == "cnn" || name == "mlp"
}

// Check returns an error for a specification that [New] refuses for every shape of samples, or nil.
func Check(spec string) error {
	_, _, err := parse(spec)
	return err
}

const (
	maxValues = 1 << 24 // in a sample; more would take all memory, by mistake
	maxWidth  = 1 << 16 // of a hidden layer
	maxLayers = 16
)

// paperWidth is the width of the embeddings in the paper's IMDB model, and of its hidden layer.
const paperWidth = 16

// paperHidden are the widths of the hidden layers in the paper's FashionMNIST model.
var paperHidden = []int{120, 120}

// parse splits a specification into a name in [Names] and the widths of hidden layers.
func parse(spec string) (name string, widths []int, err error) {
	name, list, given := strings.Cut(spec, ":")
	switch {
	case !slices.Contains(Names(), name):
		return "", nil, &UnknownError{Name: name}
	case given && name != "mlp":
		return "", nil, fmt.Errorf("model %q: %s takes nothing after its name", spec, name)
	case !given && name == "mlp":
		return name, paperHidden, nil
	case !given:
		return name, nil, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		width, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || width < 1 || width > maxWidth {
			return "", nil, fmt.Errorf("model %q: %q is no width of a hidden layer; give numbers from 1 to %d, as in mlp:120,120", spec, text, maxWidth)
		}
		widths = append(widths, width)
	}
	if len(widths) > maxLayers {
		return "", nil, fmt.Errorf("model %q: %d hidden layers; give at most %d", spec, len(widths), maxLayers)
	}
	return name, widths, nil
}

// UnknownError reports that no model has the name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown model %q; there are %s", e.Name, strings.Join(Names(), ", "))
}
