// Package models builds networks for package train, the ones of the paper's experiments among them.
//
// To build one for samples of any shape, call [New] with its name. [CNN], [MLP] and [EmbeddingClassifier] build one
// with sizes of your own. The result is a [train.Model]: a Gorgonia graph of stock operations, whose parameters have no
// values, and a function that draws their initial values from a seed (Gorgonia's initialisers seed from the clock). Its
// inputs and cost are
//
//	x  [batch, …]       the samples
//	y  [batch, outputs] their labels: classes one-hot, or with one output a number to regress on
//	cost = −Σ_batch Σ_classes y ∘ log softmax(logits)    for classes
//	cost = ½ Σ_batch (output − y)²                       for a number
//
// The inputs of [EmbeddingClassifier] are token ids and their weights in place of x.
//
// The gradient of the squared error grows with the residual, and training clips it. Scale labels to about unit size, by
// public constants, for the clipping norm to fit.
//
// Activations are tempered sigmoids, σ(z) = s/(1+exp(−T z)) − o (Papernot et al., "Tempered Sigmoid
// Activations for Deep Learning with Differential Privacy", 2020); s = 2, T = 2, o = 1 is tanh.
//
// [ResNet20] is for networks that are trained already, on public data: it computes features of images, on which a
// linear model is trained. [ResNet.Fold] makes its parameters of tensors with PyTorch's names.
package models
