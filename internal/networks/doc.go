// Package networks builds the graphs of package models, which is its door for programs and documents them. All of them,
// models' Builder too, grow a [Graph]. [Layers] describes a network for files and other frameworks, and [ToPyTorch] and
// [FromPyTorch] convert its parameters.
//
// [ResNet20] builds a network for inference only. With the weights of a network trained on public data it
// computes features of images, and a linear model is trained on the features. [ResNet.Fold] converts such weights,
// under PyTorch's names, to parameters.
package networks
