package models

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/train"
)

// Names lists the models that [New] knows.
func Names() []string { return []string{"cnn", "embedding", "linear", "mlp"} }

// New builds a model for samples of the given shape, which has no batch axis. Outputs is the number of classes, or 1 for a
// number to regress on. A specification is a name, and for some names numbers after a colon:
//
//	linear        logistic regression (softmax), or linear regression
//	mlp           fully connected, with the paper's hidden layers of 120 and 120
//	mlp:64        fully connected, with hidden layers of one's own, here a single one
//	cnn           the paper's convolutional network, for images: see [CNN]
//	embedding     the paper's network for texts, which are ids of words: see [EmbeddingClassifier]
//
// Texts have the shape [length], and Options.Vocabulary. The error names what doesn't fit.
func New(spec string, shape []int, outputs int, o Options) (train.Model, error) {
	name, widths, err := parse(spec)
	if err != nil {
		return train.Model{}, err
	}
	size := 1
	for _, axis := range shape {
		if axis < 1 || axis > mostValues/size {
			return train.Model{}, fmt.Errorf("samples of shape %v: a sample has 1 to %d values", shape, mostValues)
		}
		size *= axis
	}
	if outputs < 1 || outputs > mostValues {
		return train.Model{}, fmt.Errorf("%d outputs: a model has one for each class, or 1 to regress on", outputs)
	}
	if texts := name == "embedding"; texts && o.Vocabulary == 0 {
		return train.Model{}, fmt.Errorf("embedding takes texts, and a sample has the shape %v of numbers; take linear or mlp", shape)
	} else if !texts && o.Vocabulary != 0 {
		return train.Model{}, fmt.Errorf("%s takes numbers, and samples are texts; take embedding", name)
	}
	switch name {
	case "cnn":
		return CNN(o, shape, outputs)
	case "embedding":
		return EmbeddingClassifier(o, o.Vocabulary, size, paperWidth, paperWidth, outputs)
	case "linear":
		return MLP(o, size, outputs)
	default:
		return MLP(o, slices.Concat([]int{size}, widths, []int{outputs})...)
	}
}

// Activated tells whether a model of the specification has [Options.Activation] in it.
func Activated(spec string) bool {
	name, _, _ := parse(spec)
	return name == "cnn" || name == "mlp"
}

// Check returns an error for a specification that [New] takes for no shape of samples at all.
func Check(spec string) error {
	_, _, err := parse(spec)
	return err
}

const (
	mostValues = 1 << 24 // of a sample; more is a mistake that would cost all memory
	mostWidth  = 1 << 16 // of a hidden layer
	mostLayers = 16
)

// paperWidth is the width of the embedding of the paper's IMDB model, and of the layer after it.
const paperWidth = 16

// paperHidden are the hidden layers of the paper's FashionMNIST model.
var paperHidden = []int{120, 120}

// parse splits a specification into a name that [New] knows and the widths of hidden layers.
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
		if err != nil || width < 1 || width > mostWidth {
			return "", nil, fmt.Errorf("model %q: %q is no width of a hidden layer; give numbers from 1 to %d, as in mlp:120,120", spec, text, mostWidth)
		}
		widths = append(widths, width)
	}
	if len(widths) > mostLayers {
		return "", nil, fmt.Errorf("model %q: %d hidden layers; give at most %d", spec, len(widths), mostLayers)
	}
	return name, widths, nil
}

// UnknownError is a name that no model has.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown model %q; there are %s", e.Name, strings.Join(Names(), ", "))
}
