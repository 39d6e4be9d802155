package models

import (
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/train"
)

// Options are the options that all builders share. Batch is the number of samples in the graph's inputs; 0 means 1. The
// zero value of Activation means [Tanh]. Vocabulary, for [New], is the number of different tokens of texts, or 0 if
// samples aren't texts. Double makes graphs of float64 instead of float32, for tests.
type Options = networks.Options

// TemperedSigmoid is the activation Scale/(1+exp(−Temperature·z)) − Offset.
type TemperedSigmoid = networks.TemperedSigmoid

// Tanh is the tempered sigmoid that equals the hyperbolic tangent.
var Tanh = networks.Tanh

// UnknownError reports that no model has the name, its field Name.
type UnknownError = networks.UnknownError

// Names returns the names of the models that [New] builds.
func Names() []string { return networks.Names() }

// New builds a model for samples of the given shape, without the batch axis. outputs is the number of classes, or 1 for
// a regression. spec is a name, which for some models may be followed by a colon and numbers:
//
//	linear        logistic regression (softmax), or linear regression
//	mlp           fully connected, with the paper's hidden layers of 120 and 120
//	mlp:64        fully connected, with the given hidden layers, here a single one
//	cnn           the paper's convolutional network, for images: see [CNN]
//	embedding     the paper's network for texts, which are token ids: see [EmbeddingClassifier]
//
// For texts, shape is [length], and Options.Vocabulary must be set. The error names the argument that doesn't fit.
func New(spec string, shape []int, outputs int, o Options) (train.Model, error) {
	return networks.New(spec, shape, outputs, o)
}

// CNN builds the convolutional network of Opacus's MNIST example for images [channels, height, width], or [height,
// width] of one channel: convolution to 16 channels (8×8, stride 2, padding 3), max-pool (2, stride 1), convolution
// 16→32 (4×4, stride 2), max-pool (2, stride 1), a dense layer of 32 units and a dense layer of the outputs. For 28×28
// grey images and ten classes it has 26,010 parameters. Images need a height and a width of 14 or more. The input is x
// [batch, channels, height, width].
func CNN(o Options, shape []int, outputs int) (train.Model, error) {
	return networks.CNN(o, shape, outputs)
}

// MLP builds a fully connected network with the given widths: inputs, hidden layers, outputs. The paper's FashionMNIST
// model is 784, 120, 120, 10 with 109,930 parameters. Without hidden layers it is a linear model. The input is x
// [batch, widths[0]].
func MLP(o Options, widths ...int) (train.Model, error) { return networks.MLP(o, widths...) }

// EmbeddingClassifier builds Opacus's network for IMDB (examples/imdb.py): an embedding of the given width for each
// token of the vocabulary, their mean over the tokens of a text, width→hidden, ReLU, hidden→classes. With a vocabulary
// of 28,996 tokens, length 256, widths of 16 and two classes it has 464,242 parameters.
//
// The inputs are ids, weights and y. ids [batch, length] are integers from 0 to vocabulary-1. weights [batch, length]
// are the weights of tokens in the mean: 1/k for each of a text's k tokens, and 0 for padding.
func EmbeddingClassifier(o Options, vocabulary, length, width, hidden, classes int) (train.Model, error) {
	return networks.EmbeddingClassifier(o, vocabulary, length, width, hidden, classes)
}
