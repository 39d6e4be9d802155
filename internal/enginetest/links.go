package enginetest

import (
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// links are the operations of random graphs.
var links = []link{
	func(c *chain) *gorgonia.Node { return c.mul(c.h, c.weight(width, width)) },
	func(c *chain) *gorgonia.Node {
		return c.g.Do(gorgonia.BroadcastAdd(c.h, c.weight(1, width), nil, []byte{0}))
	},
	func(c *chain) *gorgonia.Node {
		return c.g.Do(gorgonia.BroadcastHadamardProd(c.h, c.weight(1, width), nil, []byte{0}))
	},
	func(c *chain) *gorgonia.Node { return c.bend(c.h) },
	func(c *chain) *gorgonia.Node { return c.g.Do(gorgonia.Sigmoid(c.h)) },
	func(c *chain) *gorgonia.Node { return c.g.Do(gorgonia.SoftMax(c.h)) },
	func(c *chain) *gorgonia.Node { return c.g.Do(gorgonia.Add(c.h, c.earlier())) },
	func(c *chain) *gorgonia.Node { return c.g.Do(gorgonia.HadamardProd(c.h, c.earlier())) },
	func(c *chain) *gorgonia.Node { // four rows, each of three
		return c.own(c.mul(c.folded(c.h, 4, 3), c.weight(3, 3)), width)
	},
	func(c *chain) *gorgonia.Node { // two channels of 2×3
		return c.own(c.conv(c.own(c.h, 2, 2, 3), c.weight(2, 2, 3, 3)), width)
	},
	func(c *chain) *gorgonia.Node { return c.g.Do(gorgonia.Mul(c.h, c.g.Number(float64(c.pick%5)-1.5))) },
	func(c *chain) *gorgonia.Node { // four rows, each of three, by a weight that a product may use too
		return c.g.Do(gorgonia.Add(c.h, c.own(c.g.gather(c.weight(3, 3), c.ids, 4), width)))
	},
	func(c *chain) *gorgonia.Node { // parts of two values
		k := 2 + c.pick/8%9
		return c.join(1, c.cut(c.h, nil, gorgonia.S(0, k)), c.cut(c.earlier(), nil, gorgonia.S(k, 12)))
	},
	func(c *chain) *gorgonia.Node { // on an inner axis
		a, b := c.own(c.h, 3, 4), c.own(c.earlier(), 3, 4)
		return c.own(c.join(2, c.cut(a, nil, nil, gorgonia.S(2, 4)), c.own(c.cut(b, nil, nil, gorgonia.S(1)), 3, 1), c.own(c.cut(a, nil, nil, gorgonia.S(0, 1)), 3, 1)), width)
	},
	func(c *chain) *gorgonia.Node {
		a, b := c.own(c.h, 3, 4), c.own(c.earlier(), 3, 4)
		return c.own(c.batched(c.bend(c.batched(a, b, false, true)), a), width)
	},
	func(c *chain) *gorgonia.Node {
		a, b := c.own(c.h, 3, 4), c.own(c.earlier(), 3, 4)
		return c.own(c.batched(b, c.bend(c.batched(a, b, true))), width)
	},
	func(c *chain) *gorgonia.Node { // both turned
		a, b := c.own(c.h, 3, 4), c.own(c.earlier(), 4, 3)
		return c.own(c.batched(c.bend(c.batched(a, b, true, true)), b), width)
	},
	func(c *chain) *gorgonia.Node { // rows of samples
		a, b := c.folded(c.h, 2, 2, 3), c.folded(c.earlier(), 2, 2, 3)
		return c.own(c.batched(c.batched(a, b, false, true), a), width)
	},
	func(c *chain) *gorgonia.Node { // attention of two heads
		head := func(n *gorgonia.Node) *gorgonia.Node { return c.turned(c.own(n, 3, 2, 2), 0, 2, 1, 3) }
		scores := c.g.Do(gorgonia.SoftMax(c.batched(head(c.h), head(c.earlier()), false, true)))
		return c.own(c.turned(c.batched(scores, head(c.bend(c.h))), 0, 2, 1, 3), width)
	},
	func(c *chain) *gorgonia.Node {
		a := c.own(c.h, 3, 4)
		m := c.own(c.g.Do(gorgonia.Max(a, 2)), 3, 1)
		return c.own(c.g.Do(gorgonia.BroadcastSub(a, m, nil, []byte{2})), width)
	},
	func(c *chain) *gorgonia.Node {
		a := c.own(c.h, 2, 3, 2)
		m := c.own(c.g.Do(gorgonia.Max(a, 1, 3)), 1, 3, 1)
		return c.own(c.g.Do(gorgonia.BroadcastAdd(a, m, nil, []byte{1, 3})), width)
	},
	func(c *chain) *gorgonia.Node {
		axis := 1 + c.pick%3
		return c.own(c.g.Do(gorgonia.SoftMax(c.own(c.h, 2, 3, 2), axis)), width)
	},
	func(c *chain) *gorgonia.Node {
		axis := 1 + c.pick%2
		return c.own(c.g.Do(gorgonia.Exp(c.g.Do(gorgonia.LogSoftMax(c.own(c.h, 3, 4), axis)))), width)
	},
	func(c *chain) *gorgonia.Node { return c.g.Do(gorgonia.MaxBetween(c.h, c.bend(c.earlier()))) },
	func(c *chain) *gorgonia.Node {
		return c.g.Do(gorgonia.MinBetween(c.g.Do(gorgonia.Square(c.earlier())), c.h))
	},
	func(c *chain) *gorgonia.Node { return c.mul(c.h, c.bend(c.weight(width, width))) },
	func(c *chain) *gorgonia.Node {
		return c.mul(c.h, c.g.Do(gorgonia.SoftMax(c.weight(width, width), c.pick/3%2)))
	},
	func(c *chain) *gorgonia.Node { return c.mul(c.h, c.mul(c.weight(width, 2), c.weight(2, width))) },
	func(c *chain) *gorgonia.Node {
		return c.mul(c.h, c.turned(c.mul(c.weight(width, 2), c.weight(2, width))))
	},
	func(c *chain) *gorgonia.Node {
		return c.mul(c.h, c.turned(c.mul(c.weight(width, width), c.turned(c.weight(width, width)))))
	},
	func(c *chain) *gorgonia.Node { return layerNorm(c.g, c.h, c.pick%2 == 0) },
	func(c *chain) *gorgonia.Node { return c.own(layerNorm(c.g, c.folded(c.h, 3, 4), c.pick%2 == 0), width) },
	func(c *chain) *gorgonia.Node {
		a := c.own(c.cut(c.h, nil, gorgonia.S(1, 10, 3)), 3, 1, 1)
		return c.g.Do(gorgonia.Add(c.h, c.own(c.g.Do(gorgonia.Upsample2D(a, 2)), width)))
	},
	func(c *chain) *gorgonia.Node { return c.own(c.turned(c.own(c.h, 3, 4), 0, 2, 1), width) },
	func(c *chain) *gorgonia.Node { return c.mul(c.h, c.turned(c.weight(width, width))) },
	func(c *chain) *gorgonia.Node {
		k := c.pick % 3
		return c.mul(c.h, c.cut(c.weight(14, width), gorgonia.S(k, k+12)))
	},
	func(c *chain) *gorgonia.Node {
		k := c.pick % 3
		return c.mul(c.h, c.cut(c.weight(width, 14), nil, gorgonia.S(k, k+12)))
	},
	func(c *chain) *gorgonia.Node {
		return c.mul(c.h, c.join(0, c.weight(2, width), c.bend(c.weight(10, width))))
	},
	func(c *chain) *gorgonia.Node {
		a := c.weight(width, 6)
		return c.mul(c.h, c.join(1, a, a))
	},
	func(c *chain) *gorgonia.Node {
		m := c.own(c.g.Do(gorgonia.Mean(c.own(c.h, 3, 4), 1)), 1, 4)
		return c.own(c.g.Do(gorgonia.BroadcastHadamardProd(c.own(c.h, 3, 4), m, nil, []byte{1})), width)
	},
	func(c *chain) *gorgonia.Node {
		s := c.g.Do(gorgonia.Sum(c.weight(3, width, 2), 0, 2))
		return c.g.Do(gorgonia.BroadcastAdd(c.h, c.g.Do(gorgonia.Reshape(s, tensor.Shape{1, width})), nil, []byte{0}))
	},
	func(c *chain) *gorgonia.Node { return c.g.Do(gorgonia.Mul(c.h, c.weight())) },
	func(c *chain) *gorgonia.Node {
		return c.g.Do(gorgonia.Mul(c.h, c.mul(c.weight(4), c.bend(c.weight(4)))))
	},
	func(c *chain) *gorgonia.Node {
		return c.g.Do(gorgonia.Add(c.h, c.own(c.g.gather(c.bend(c.weight(3, 3)), c.ids, 4), width)))
	},
	func(c *chain) *gorgonia.Node {
		return c.g.Do(gorgonia.Add(c.h, c.own(c.g.gather(c.turned(c.weight(3, 3)), c.ids, 4), width)))
	},
	func(c *chain) *gorgonia.Node {
		return c.own(c.g.Do(gorgonia.MaxPool2D(c.own(c.h, 2, 2, 3), tensor.Shape{3, 3}, []int{1, 1}, []int{1, 1})), width)
	},
	func(c *chain) *gorgonia.Node { // a function of a filter, of a part of a parameter
		f := c.bend(c.cut(c.weight(2, 2, 3, 4), nil, nil, nil, gorgonia.S(1, 4)))
		return c.own(c.conv(c.own(c.h, 2, 3, 2), f), width)
	},
	func(c *chain) *gorgonia.Node { return c.g.Do(gorgonia.Rectify(c.h)) },
	func(c *chain) *gorgonia.Node { // weight normalisation
		w := c.weight(width, width)
		norms := c.g.Do(gorgonia.Sqrt(c.g.Do(gorgonia.Sum(c.g.Do(gorgonia.Square(w)), c.pick%2))))
		shape, along := tensor.Shape{1, width}, byte(0)
		if c.pick%2 == 1 {
			shape, along = tensor.Shape{width, 1}, 1
		}
		return c.mul(c.h, c.g.Do(gorgonia.BroadcastHadamardDiv(w, c.g.Do(gorgonia.Reshape(norms, shape)), nil, []byte{along})))
	},
	func(c *chain) *gorgonia.Node { // steps of a recurrent network
		w, v := c.weight(width, width), c.weight(3, width)
		h := c.h
		for k := range 4 {
			h = c.bend(c.g.Do(gorgonia.Add(c.mul(h, w), c.mul(c.cut(c.earlier(), nil, gorgonia.S(3*k, 3*k+3)), v))))
		}
		return h
	},
	func(c *chain) *gorgonia.Node { // a broadcast of a sample's own row
		row := c.own(c.cut(c.h, nil, gorgonia.S(2, 5)), 1, 3)
		return c.own(c.g.Do(gorgonia.BroadcastSub(row, c.own(c.earlier(), 4, 3), []byte{1}, nil)), width)
	},
	func(c *chain) *gorgonia.Node { // a parameter in another shape
		return c.mul(c.h, c.g.Do(gorgonia.Reshape(c.weight(2, 6, 3, 4), tensor.Shape{width, width})))
	},
	func(c *chain) *gorgonia.Node { // a matrix of the sample's times a parameter's vector
		v := c.mul(c.folded(c.h, 4, 3), c.weight(3))
		return c.own(c.g.Do(gorgonia.BroadcastAdd(c.own(c.earlier(), 4, 3), c.own(v, 4, 1), nil, []byte{2})), width)
	},
}

// strangeLinks are operations whose gradient Gorgonia gets wrong, or hasn't.
var strangeLinks = []link{
	func(c *chain) *gorgonia.Node {
		a := c.own(c.h, 4, 3, 1)
		return c.own(c.g.Do(gorgonia.GroupNorm(a, c.weight(1, 4, 1, 1), c.weight(1, 4, 1, 1), []int{1, 2}[c.pick%2], 4, 0.1)), width)
	},
	func(c *chain) *gorgonia.Node {
		m := c.own(c.g.Do(gorgonia.GlobalAveragePool2D(c.own(c.h, 3, 2, 2))), 3, 1, 1)
		return c.own(c.g.Do(gorgonia.BroadcastHadamardProd(c.own(c.earlier(), 3, 2, 2), m, nil, []byte{2, 3})), width)
	},
	func(c *chain) *gorgonia.Node {
		return c.g.Do(gorgonia.Log2(c.g.Do(gorgonia.Add(c.g.Do(gorgonia.Square(c.h)), c.g.Number(0.5)))))
	},
	func(c *chain) *gorgonia.Node {
		return c.g.Do(gorgonia.InverseSqrt(c.g.Do(gorgonia.Add(c.g.Do(gorgonia.Square(c.h)), c.g.Number(0.5)))))
	},
	func(c *chain) *gorgonia.Node {
		on := c.g.Do(gorgonia.Gt(c.weight(width, width), c.g.Number(0), true))
		return c.mul(c.h, c.g.Do(gorgonia.HadamardProd(c.weight(width, width), on)))
	},
}
