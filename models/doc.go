// Package models builds networks for package train, including the networks of the paper's experiments.
//
// To build one for samples of any shape, call [New] with its name. [CNN], [MLP] and [EmbeddingClassifier] build one
// with sizes of your own. To build any other network, call [Build] with a function that adds layers. The result is a
// [train.Model]: a Gorgonia graph of stock operations and a function Initial. The graph's parameters have no values;
// Initial draws them from a seed, because Gorgonia's own initialisers seed from the clock. The inputs and the cost of a
// graph of New are
//
//	x  [batch, …]       the samples
//	y  [batch, outputs] their labels: classes one-hot, or with one output a number to regress on
//	cost = −Σ_batch Σ_classes y ∘ log softmax(logits)    for classes
//	cost = ½ Σ_batch (output − y)²                       for a number
//
// EmbeddingClassifier has two inputs in place of x: token ids and their weights.
//
// The gradient of the squared error grows with the residual, and training clips it. Scale labels to about unit size by
// public constants, so that common clipping norms fit.
//
// Activations are tempered sigmoids, σ(z) = s/(1+exp(−T z)) − o (Papernot et al., "Tempered Sigmoid
// Activations for Deep Learning with Differential Privacy", 2020); s = 2, T = 2, o = 1 is tanh.
//
// [Released.Save] writes a trained model to files, which the command and Python read too, and [Open] reads them and the
// command's.
package models
