package models

import "github.com/dptrain/dptrain/internal/networks"

// Features is the number of features that [ResNet20] computes from an image.
const Features = networks.Features

// ResNet is a residual network for inference. Its method Extractor returns the network that computes features, and Fold
// the parameters for the tensors of a trained network under torchvision's names.
type ResNet = networks.ResNet

// ResNet20 builds the residual network of 20 layers for 32×32 colour images, without values of its parameters. The
// input is x [batch, 3, 32, 32].
func ResNet20(o Options, classes int) (ResNet, error) { return networks.ResNet20(o, classes) }
