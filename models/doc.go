// Package models builds the networks of the paper's experiments as Gorgonia graphs of stock operations,
// and draws their initial values, apart from the graphs, from a stream of our own (Gorgonia's initialisers seed from the
// clock).
//
// A [Network] has the batch as the first axis of its inputs and a cost that sums over the samples, so
// that a private trainer can tell samples apart:
//
//	x  [batch, …]       the samples
//	y  [batch, classes] their labels, one-hot
//	cost = −Σ_batch Σ_classes y ∘ log softmax(logits)
//
// A text's samples are two inputs, the words' numbers and what each counts ([EmbeddingClassifier]).
//
// Activations are tempered sigmoids, σ(z) = s/(1+exp(−T z)) − o (Papernot et al., "Tempered Sigmoid
// Activations for Deep Learning with Differential Privacy", 2020); s = 2, T = 2, o = 1 is tanh.
//
// [ResNet20] is the exception: it is trained already, on public data, and makes features of images that a linear model is
// trained on. Its weights come from tensors by PyTorch's names, and its activations are what those were trained with.
package models
