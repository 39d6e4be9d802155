// Package models builds networks as Gorgonia graphs of stock operations, those of the paper's experiments among them, and
// draws their initial values, apart from the graphs, from a stream of our own (Gorgonia's initialisers seed from the
// clock). [New] builds one by name for samples of any shape.
//
// A [Network] has the batch as the first axis of its inputs and a cost that sums over the samples, so
// that a private trainer can tell samples apart:
//
//	x  [batch, …]       the samples
//	y  [batch, outputs] their labels: classes one-hot, or with one output a number to regress on
//	cost = −Σ_batch Σ_classes y ∘ log softmax(logits)    of classes
//	cost = ½ Σ_batch (output − y)²                       of a number
//
// The gradient of the squared error grows with the residual. Training clips it, so that a sample far off pulls no more than
// others do; labels should be scaled to about unit size, by public constants, for the clipping norm to fit.
//
// A text's samples are two inputs, the words' numbers and what each counts ([EmbeddingClassifier]).
//
// Activations are tempered sigmoids, σ(z) = s/(1+exp(−T z)) − o (Papernot et al., "Tempered Sigmoid
// Activations for Deep Learning with Differential Privacy", 2020); s = 2, T = 2, o = 1 is tanh.
//
// [ResNet20] is the exception: it is trained already, on public data, and makes features of images that a linear model is
// trained on. Its weights come from tensors by PyTorch's names, and its activations are what those were trained with.
package models
