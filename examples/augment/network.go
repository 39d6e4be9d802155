package main

import (
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

const side, shift = 28, 2

// network returns the mean logits of an image's views, and the mean of their losses.
func network() (train.Model, error) {
	const batch = 2 // any: training forms its own batches
	return models.Build(batch, func(b *models.Builder) (output, cost *G.Node) {
		x, classes := b.Input("image", 1, side, side), b.Input("class", 10)
		n := batch * *views
		if *views > 1 {
			x = b.Do(G.Reshape(x, []int{batch, side * side}))
			x = b.Do(G.Reshape(b.Do(G.Concat(1, repeated(x)...)), []int{n, side, side}))
			x = moved(b, "columns", mirrored(b, x))
			x = moved(b, "rows", b.Do(G.Transpose(x, 0, 2, 1)))
			x = b.Do(G.Reshape(b.Do(G.Transpose(x, 0, 2, 1)), []int{n, 1, side, side}))
		}
		x = conv(b, "conv2", conv(b, "conv1", x, 16, 5), 32, 3)
		logits := b.Linear("output", b.Do(G.Reshape(x, []int{batch, *views, x.Shape().TotalSize() / n})), 10)
		targets := b.Do(G.Reshape(b.Do(G.Concat(1, repeated(classes)...)), []int{batch, *views, 10}))
		return b.Do(G.Mean(logits, 1)), b.CrossEntropy(logits, targets, nil)
	})
}

func repeated(x *G.Node) (all []*G.Node) {
	for range *views {
		all = append(all, x)
	}
	return all
}

// mirrored mirrors each of the images [n, side, side] with probability one half, and none in a prediction.
func mirrored(b *models.Builder, x *G.Node) *G.Node {
	mirror := make([]float32, side*side)
	for i := range side {
		mirror[i*side+side-1-i] = 1
	}
	coins := b.Do(G.Lt(b.UniformNoise("mirror", 0, 1, *views), G.NewConstant(float32(0.5)), true))
	difference := b.Do(G.Sub(product(b, x, b.Constant(mirror, side, side)), x))
	return b.Do(G.Add(x, b.Multiply(difference, b.Do(G.Reshape(coins, []int{x.Shape()[0], 1, 1})))))
}

// moved moves the columns of each of the images [n, side, side] by −shift, …, shift pixels, and not in a prediction.
func moved(b *models.Builder, name string, x *G.Node) *G.Node {
	const moves = 2*shift + 1
	all, centres, ones := make([]float32, side*moves*side), make([]float32, moves), make([]float32, moves)
	for m := range moves {
		centres[m], ones[m] = -float32(m)-0.5, 1
		for from := range side {
			if to := from + m - shift; to >= 0 && to < side {
				all[from*moves*side+m*side+to] = 1
			}
		}
	}
	n := x.Shape()[0]
	which := b.Do(G.Reshape(b.UniformNoise(name, 0, moves, *views), []int{n, 1}))
	apart := b.Do(G.Abs(b.Add(b.Do(G.Mul(which, b.Constant(ones, 1, moves))), b.Constant(centres, 1, moves))))
	one := b.Do(G.Reshape(b.Do(G.Lt(apart, G.NewConstant(float32(0.5)), true)), []int{n, 1, moves, 1}))
	moved := b.Do(G.Reshape(product(b, x, b.Constant(all, side, moves*side)), []int{n, side, moves, side}))
	return b.Do(G.Sum(b.Multiply(moved, one), 2))
}

// product returns x·w for images x [n, side, side].
func product(b *models.Builder, x, w *G.Node) *G.Node {
	n := x.Shape()[0]
	return b.Do(G.Reshape(b.Do(G.Mul(b.Do(G.Reshape(x, []int{n * side, side})), w)), []int{n, side, w.Shape()[1]}))
}

// conv adds a convolution with a stride of 2, and a rectifier.
func conv(b *models.Builder, name string, x *G.Node, channels, kernel int) *G.Node {
	w := b.Parameter(name+".weight", models.Normal(1/float64(kernel*kernel)), channels, x.Shape()[1], kernel, kernel)
	x = b.Do(G.Conv2d(x, w, tensor.Shape{kernel, kernel}, []int{kernel / 2, kernel / 2}, []int{2, 2}, []int{1, 1}))
	return b.Do(G.Rectify(b.Add(x, b.Parameter(name+".bias", models.Value(0), 1, channels, 1, 1))))
}
