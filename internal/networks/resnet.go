package networks

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Features is the number of features that [ResNet20] computes from an image.
const Features = 64

// ResNet is a residual network for inference: each batch norm is folded into the convolution before it. Its logits are
// a linear function of its features.
type ResNet struct {
	Model
	features *gorgonia.Node // [batch, Features]
	convs    []folded       // in the order of Parameters, which has a weight and a bias for each
	classes  int
}

// folded is a convolution and the batch norm that follows it, by their names in PyTorch.
type folded struct {
	conv, norm      string
	in, out, kernel int
}

// ResNet20 builds the residual network of 20 layers for 32×32 colour images of He, Zhang, Ren and Sun ("Deep Residual
// Learning for Image Recognition", 2016, section 4.2): a convolution 3→16; three layers of three blocks with 16, 32 and
// 64 channels, the second and third layer with a stride of 2; the mean over the image; and 64→classes. The shortcut of
// a block that changes the shape is a 1×1 convolution, as in torchvision. The input is x [batch, 3, 32, 32].
// [ResNet.Fold] returns values for the parameters.
//
// Activations are ReLU, and Options.Activation is ignored, because the public weights were trained with ReLU. The
// paper's table has tempered sigmoids for this network, but only the last layer was trained privately, and that layer
// has no activation.
func ResNet20(o Options, classes int) (ResNet, error) {
	b, n := newBuilder(o), ResNet{classes: classes}
	var err error
	n.Model, err = b.build(func(*builder) (output, cost *gorgonia.Node) {
		x := b.rectify(b.norm(b.input("x", 3, 32, 32), folded{"conv1", "bn1", 3, 16, 3}, 1))
		in := 16
		for layer, out := range []int{16, 32, Features} {
			for block := range 3 {
				stride := 1
				if layer > 0 && block == 0 {
					stride = 2
				}
				x = b.block(fmt.Sprintf("layer%d.%d", layer+1, block), x, in, out, stride)
				in = out
			}
		}
		n.features = b.average(x, Features)
		return b.trained(b.linear("fc", n.features, Features, classes), classes)
	})
	n.convs = b.convs
	return n, err
}

// Extractor returns the network without its fully connected layer. Its outputs are the features.
func (n ResNet) Extractor() Model {
	m := n.Model
	m.Output = n.features
	return m
}

// norm adds a convolution with its batch norm folded in, which is a convolution with a bias.
func (b *builder) norm(x *gorgonia.Node, c folded, stride int) *gorgonia.Node {
	b.convs = append(b.convs, c)
	return b.conv(c.conv, x, c.in, c.out, c.kernel, stride, c.kernel/2)
}

// block adds two convolutions and a shortcut around them.
func (b *builder) block(name string, x *gorgonia.Node, in, out, stride int) *gorgonia.Node {
	y := b.rectify(b.norm(x, folded{name + ".conv1", name + ".bn1", in, out, 3}, stride))
	y = b.norm(y, folded{name + ".conv2", name + ".bn2", out, out, 3}, 1)
	if in != out {
		x = b.norm(x, folded{name + ".downsample.0", name + ".downsample.1", in, out, 1}, stride)
	}
	return b.rectify(Do(gorgonia.Add(y, x)))
}

// average adds the mean over the image: [batch, channels, height, width] to [batch, channels].
func (b *builder) average(x *gorgonia.Node, channels int) *gorgonia.Node {
	pixels := x.Shape().TotalSize() / (b.Batch * channels)
	return Do(gorgonia.Mean(Do(gorgonia.Reshape(x, tensor.Shape{b.Batch, channels, pixels})), 2))
}
