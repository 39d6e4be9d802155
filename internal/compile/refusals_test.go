package compile_test

import (
	"errors"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

type (
	source = func(g *enginetest.G) (compile.Source, error)
	node   = *gorgonia.Node
)

// refusal is a graph in which an operation is refused.
type refusal struct {
	want  string // the reason
	mixes bool
	one   bool // the graph is for a batch of one instead of four
	fails bool // Gorgonia's machine can't evaluate the graph
	build source
}

func (r refusal) size() int {
	if r.one {
		return 1
	}
	return 4
}

// squared closes a graph with the sum of the squares of a node's elements.
func squared(draw func(g *enginetest.G) node) source {
	return func(g *enginetest.G) (compile.Source, error) {
		return g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(draw(g))))))
	}
}

// summedUp closes a graph with the sum of a node's elements. The node may be a sum over the batch.
func summedUp(draw func(g *enginetest.G) node) source {
	return func(g *enginetest.G) (compile.Source, error) { return g.Done(nil, g.Do(gorgonia.Sum(draw(g)))) }
}

// costs closes a graph with a cost that is a function of two sums.
func costs(draw func(g *enginetest.G, a, b node) node) source {
	return func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		a, b := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h)))), g.Do(gorgonia.Sum(g.Do(gorgonia.Tanh(h))))
		return g.Done(nil, draw(g, a, b))
	}
}

// hidden returns a value of the given number of features for each sample.
func hidden(g *enginetest.G, features int) node {
	return g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, features)))
}

// images returns images of two channels of 4×4.
func images(g *enginetest.G) node {
	return g.Do(gorgonia.Reshape(hidden(g, 32), tensor.Shape{g.Batch, 2, 4, 4}))
}

// overBatch returns the sum over the batch alone of features, which has one row.
func overBatch(g *enginetest.G, features int) node {
	return g.Do(gorgonia.Reshape(g.Do(gorgonia.Sum(hidden(g, features), 0)), tensor.Shape{1, features}))
}

// repeated returns a parameter repeated along the batch.
func repeated(g *enginetest.G, features int) node {
	_, p, err := gorgonia.Broadcast(hidden(g, features), g.Param("p", 1, features), gorgonia.NewBroadcastPattern(nil, []byte{0}))
	return g.Do(p, err)
}

// vector returns one number for each sample, in one axis.
func vector(g *enginetest.G, name string) node {
	return g.Do(gorgonia.Mul(g.In("x"+name, 3), g.Param("w"+name, 3)))
}

// matrix returns a constant matrix.
func matrix(rows, columns int) node {
	return gorgonia.NewConstant(tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(make([]float32, rows*columns))))
}

// turnedProduct returns the product of a parameter and a transposed value. Only Conv2d makes such products.
func turnedProduct(g *enginetest.G) node {
	conv := g.Do(gorgonia.Conv2d(g.Param("image", 1, 1, 2, 2), g.Param("filter", 1, 1, 2, 2), tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
	for n := range gorgonia.WalkGraph(conv) {
		if n.Op() != nil && graph.Kind(n.Op()) == "linAlgBinOp" {
			return g.Do(gorgonia.ApplyOp(n.Op(), g.Param("v", 5, 3), g.In("x", 3)))
		}
	}
	return g.Do(nil, errors.New("Conv2d makes no product"))
}

const (
	ofSum        = "it is applied to a sum over the batch; only the final cost may be one"
	ofSumScaled  = ofSum + ", and only be scaled or added to"
	alone        = "it is applied to a sum over the batch alone, which only a cost may be made of"
	contracts    = "it contracts the batch axis; put the batch first, as in Mul(x, w)"
	multiplies   = "it multiplies values of all samples with one another"
	away         = "it moves the batch away from the first axis, where samples are followed"
	perPlace     = "it gives each place in the batch a parameter, or a constant, of its own"
	notRepeated  = "its operand is a parameter, or a constant, that isn't repeated along the batch"
	isRepeated   = "its operand is a parameter, or a constant, that is repeated along the batch"
	sameForAll   = "its operand is the same for all samples"
	byPlace      = "it picks samples out of the batch by their places"
	ofBatchSize  = "it computes with the batch size of the graph, which no sample has by itself"
	dontFit      = "its operands' shapes don't fit together"
	shapesDiffer = "its operands' shapes differ"
	notImages    = "its operand isn't an image of each sample"
	isNumber     = "its operand is a number"
	noRule       = "dptrain has no rule for it"
)

// refusals has an example for each reason to refuse an operation.
var refusals = map[string]refusal{
	// Samples that are mixed.
	"batch normalisation": {want: "it normalises by statistics of the batch, and keeps them; use GroupNorm, or a sample's own values normalised by Mean, BroadcastSub, Square, Sqrt and BroadcastHadamardDiv", mixes: true,
		build: squared(func(g *enginetest.G) node {
			h, _, _, _, err := gorgonia.BatchNorm(g.In("x", 2, 3, 3), g.Param("s", g.Batch, 2, 3, 3), g.Param("b", g.Batch, 2, 3, 3), 0.9, 1e-5)
			return g.Do(h, err)
		})},
	"product that contracts the batch": {want: contracts, mixes: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(g.Param("v", 5, g.Batch), g.In("x", 3)))
	})},
	"matrix times a vector over the batch": {want: contracts, mixes: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(g.Param("v", 5, g.Batch), vector(g, "")))
	})},
	"product of two batches": {want: multiplies, mixes: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(hidden(g, g.Batch), g.In("z", 2)))
	})},
	"matrix times vector of two batches": {want: multiplies, mixes: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(hidden(g, g.Batch), vector(g, "v")))
	})},
	"batched product of matrices of the one sample": {want: multiplies, mixes: true, one: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.BatchedMatMul(hidden(g, 2), g.In("z", 2), false, true))
	})},
	"windows laid across samples": {want: contracts, mixes: true, build: squared(func(g *enginetest.G) node {
		windows := g.Do(gorgonia.Im2Col(g.In("x", 2, 3, 3), tensor.Shape{2, 2}, tensor.Shape{0, 0}, tensor.Shape{1, 1}, tensor.Shape{1, 1}))
		h := g.Do(gorgonia.BatchedMatMul(g.Do(gorgonia.Reshape(windows, tensor.Shape{8, 4 * g.Batch})), g.Param("w", 3, 8), true, true))
		return g.Do(gorgonia.Transpose(g.Do(gorgonia.Reshape(h, tensor.Shape{g.Batch, 2, 2, 3})), 0, 3, 1, 2))
	})},
	"outer product of two batches": {want: multiplies, mixes: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.OuterProd(vector(g, "a"), vector(g, "b")))
	})},
	"softmax over the batch": {want: "it normalises over the batch axis", mixes: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.SoftMax(hidden(g, 2), 0))
	})},
	"softmax over the batch of one": {want: "it normalises over the batch axis", mixes: true, one: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.SoftMax(hidden(g, 2), 0))
	})},
	"maximum over the batch": {want: "it takes the maximum of all samples", mixes: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Max(g.Do(gorgonia.BroadcastHadamardProd(g.In("y", 40), g.Param("p", 1, 40), nil, []byte{0})), 0))
	})},
	"square of the cost":                     {want: ofSum, mixes: true, build: costs(func(g *enginetest.G, a, _ node) node { return g.Do(gorgonia.Square(a)) })},
	"function of a sum over the batch alone": {want: ofSum, mixes: true, build: squared(func(g *enginetest.G) node { return overBatch(g, 2) })},
	"softmax of a sum over the batch":        {want: ofSum, mixes: true, build: squared(func(g *enginetest.G) node { return g.Do(gorgonia.SoftMax(overBatch(g, 3))) })},
	"maximum of a sum over the batch":        {want: ofSum, mixes: true, build: squared(func(g *enginetest.G) node { return g.Do(gorgonia.Max(overBatch(g, 3), 1)) })},
	"product of sums over the batch": {want: ofSum, mixes: true, build: summedUp(func(g *enginetest.G) node {
		s := overBatch(g, 2)
		return g.Do(gorgonia.Mul(s, g.Do(gorgonia.Transpose(s))))
	})},
	"product of costs":           {want: ofSumScaled, mixes: true, build: costs(func(g *enginetest.G, a, b node) node { return g.Do(gorgonia.Mul(a, b)) })},
	"larger of two costs":        {want: ofSumScaled, mixes: true, fails: true, build: costs(func(g *enginetest.G, a, b node) node { return g.Do(gorgonia.MaxBetween(a, b)) })},
	"number divided by the cost": {want: ofSumScaled, mixes: true, build: costs(func(g *enginetest.G, a, _ node) node { return g.Do(gorgonia.Div(g.Number(1), a)) })},
	"samples times a sum over the batch": {want: ofSumScaled, mixes: true, build: squared(func(g *enginetest.G) node {
		h := hidden(g, 2)
		return g.Do(gorgonia.Mul(h, g.Do(gorgonia.Sum(h))))
	})},
	"rows of all samples": {want: "it picks among the rows of all samples", mixes: true, build: squared(func(g *enginetest.G) node {
		at := g.Do(gorgonia.Reshape(g.Ids("ids", 7), tensor.Shape{7 * g.Batch}))
		return g.Do(gorgonia.ByIndices(hidden(g, 2), at, 0))
	})},

	// Sums over the batch.
	"negative of a sum over the batch alone": {want: alone, build: summedUp(func(g *enginetest.G) node { return g.Do(gorgonia.Neg(overBatch(g, 2))) })},
	"sums over the batch alone, added": {want: alone, build: summedUp(func(g *enginetest.G) node {
		s := overBatch(g, 2)
		return g.Do(gorgonia.Add(s, g.Do(gorgonia.Mul(g.Number(2), s))))
	})},
	"part of a sum over the batch alone": {want: alone, build: summedUp(func(g *enginetest.G) node {
		return g.Do(gorgonia.Slice(overBatch(g, 3), nil, gorgonia.S(0, 2)))
	})},
	"sum over the batch alone times a matrix": {want: alone, build: summedUp(func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(overBatch(g, 3), matrix(3, 2)))
	})},
	"matrix times a sum over the batch alone": {want: alone, build: summedUp(func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(matrix(3, 1), overBatch(g, 3)))
	})},
	"sum over the batch alone, joined": {want: alone, build: summedUp(func(g *enginetest.G) node {
		s := overBatch(g, 2)
		return g.Do(gorgonia.Concat(1, s, s))
	})},
	"sum over the batch and over some axes": {want: "it leaves axes of a sum over the batch", build: summedUp(func(g *enginetest.G) node {
		return g.Do(gorgonia.Sum(g.Do(gorgonia.Sum(images(g), 0)), 0))
	})},
	"a cost plus a sum over the batch alone": {want: alone, build: costAndSum(gorgonia.Add, false)},
	"a sum over the batch alone plus a cost": {want: alone, build: costAndSum(gorgonia.Add, true)},
	"a cost less a sum over the batch alone": {want: alone, build: costAndSum(gorgonia.Sub, false)},
	"a sum over the batch alone less a cost": {want: alone, build: costAndSum(gorgonia.Sub, true)},
	"cost times a parameter":                 {want: "it combines a sum over the batch with a parameter, which has no share in any one sample's cost", build: costs(func(g *enginetest.G, a, _ node) node { return g.Do(gorgonia.Mul(g.Param("s"), a)) })},
	"a parameter besides the cost": {want: "it combines a sum over the batch with a parameter, which has no share in any one sample's cost", build: costs(func(g *enginetest.G, a, _ node) node {
		return g.Do(gorgonia.Add(a, g.Do(gorgonia.Sum(g.Param("s", 3)))))
	})},
	"a mean beside a sum": {want: "it adds a mean over the batch to a sum over it, so that their weights depend on the batch size", build: func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		return g.Done(nil, g.Do(gorgonia.Add(g.Do(gorgonia.Mean(g.Do(gorgonia.Square(h)))), g.Do(gorgonia.Sum(h)))))
	}},
	"the cost times the batch size": {want: "it computes the cost with the batch size in another way than to take its mean", build: func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		return g.Done(nil, g.Do(gorgonia.Mul(g.Do(gorgonia.Sum(h)), g.Do(gorgonia.SizeOf(0, h)))))
	}},
	"mean of a mean": {want: "it computes the cost with the batch size in another way than to take its mean", build: func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		return g.Done(nil, g.Do(gorgonia.Div(g.Do(gorgonia.Mean(h)), g.Do(gorgonia.SizeOf(0, h)))))
	}},

	// The batch axis.
	"batch size, and added": {want: ofBatchSize, build: squared(func(g *enginetest.G) node {
		h := hidden(g, 2)
		return g.Do(gorgonia.Add(h, g.Do(gorgonia.SizeOf(0, h))))
	})},
	"batch size squared": {want: ofBatchSize, build: squared(func(g *enginetest.G) node {
		n := g.Do(gorgonia.SizeOf(0, hidden(g, 2)))
		return g.Do(gorgonia.Mul(g.In("y", 2), g.Do(gorgonia.Mul(n, n))))
	})},
	"batch moved from the front": {want: away, build: squared(func(g *enginetest.G) node { return g.Do(gorgonia.Transpose(hidden(g, 2))) })},
	"rows across samples": {want: away, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Reshape(hidden(g, 3), tensor.Shape{3, g.Batch}))
	})},
	"slices that begin 256 apart": {want: "it begins at 0 on an axis of 600, and Gorgonia takes slices that begin 256 apart for one", build: squared(func(g *enginetest.G) node {
		h := hidden(g, 600)
		return g.Do(gorgonia.Add(g.Do(gorgonia.Slice(h, nil, gorgonia.S(0, 2))), g.Do(gorgonia.Slice(h, nil, gorgonia.S(512, 514)))))
	})},
	"one sample picked":        {want: byPlace, build: squared(func(g *enginetest.G) node { return g.Do(gorgonia.Slice(hidden(g, 2), gorgonia.S(1))) })},
	"the one sample's row":     {want: byPlace, one: true, build: squared(func(g *enginetest.G) node { return g.Do(gorgonia.Slice(hidden(g, 2), gorgonia.S(0))) })},
	"the one sample's largest": {want: "it takes the maximum of all samples", mixes: true, one: true, build: squared(func(g *enginetest.G) node { return g.Do(gorgonia.Max(hidden(g, 2))) })},
	"the largest of the one sample's rows": {want: "it takes the maximum of all samples", mixes: true, one: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Max(g.Do(gorgonia.Reshape(hidden(g, 4), tensor.Shape{2, 2}))))
	})},
	"every second of five": {want: "its step doesn't divide its range, whose last element Gorgonia counts on no axis and takes on some", fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Slice(hidden(g, 5), nil, gorgonia.S(0, 5, 2)))
	})},
	"every second of a parameter's five": {want: "its step doesn't divide its range, whose last element Gorgonia counts on no axis and takes on some", build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(g.In("x", 2), g.Do(gorgonia.Slice(g.Param("p", 5, 2), gorgonia.S(0, 5, 2)))))
	})},
	"samples one after another": {want: "it lays the samples of its operands one after another along the batch axis", build: squared(func(g *enginetest.G) node {
		h := hidden(g, 2)
		return g.Do(gorgonia.Concat(0, h, g.Do(gorgonia.Tanh(h))))
	})},
	"a parameter after the samples": {want: "it lays the samples of its operands one after another along the batch axis", build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Concat(0, hidden(g, 2), g.Param("p", 1, 2)))
	})},
	"product with the batch transposed": {want: "its result doesn't have the batch as its first axis", build: squared(turnedProduct)},

	// Broadcasting.
	"the one sample repeated by the batch size": {want: "it repeats a value of samples by the batch size", one: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.BroadcastAdd(hidden(g, 2), g.In("z", 2), nil, []byte{0}))
	})},
	"the one sample repeated": {want: "it repeats the batch axis", one: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.BroadcastAdd(hidden(g, 2), g.Param("p", 3, 2), []byte{0}, nil))
	})},
	"a parameter repeated along the batch, and again": {want: "it repeats the batch axis", one: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.BroadcastAdd(repeated(g, 2), g.Param("q", 3, 2), []byte{0}, nil))
	})},
	"an axis of two repeated": {want: "it repeats an axis that isn't of length one", fails: true, build: squared(func(g *enginetest.G) node {
		_, p, err := gorgonia.Broadcast(hidden(g, 2), g.Param("p", 4, 2), gorgonia.NewBroadcastPattern(nil, []byte{1}))
		return g.Do(p, err)
	})},

	// Parameters.
	"a parameter for each place in the batch": {want: perPlace, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Add(g.In("x", 3), g.Param("b", g.Batch, 3)))
	})},
	"a parameter repeated by the length of a length, laid along the batch": {want: perPlace, build: squared(func(g *enginetest.G) node {
		length := g.Do(gorgonia.SizeOf(0, g.Constant("c", make([]float32, g.Batch), g.Batch, 1)))
		_, p, err := gorgonia.Broadcast(g.Do(gorgonia.Reshape(length, tensor.Shape{1, 1})), g.Param("p", 1, 2*g.Batch), gorgonia.NewBroadcastPattern(nil, []byte{0}))
		return g.Do(gorgonia.Add(hidden(g, 2), g.Do(gorgonia.Reshape(g.Do(p, err), tensor.Shape{g.Batch, 2}))))
	})},
	"constants that differ along the batch": {want: perPlace, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Add(hidden(g, 2), g.Constant("c", []float32{1, 2, 1, 2, 1, 2, 1, 3}, g.Batch, 2)))
	})},
	"a parameter for each row of each place": {want: perPlace, build: squared(func(g *enginetest.G) node {
		rows := g.Do(gorgonia.Reshape(hidden(g, 6), tensor.Shape{2 * g.Batch, 3}))
		return g.Do(gorgonia.Add(rows, g.Param("p", 2*g.Batch, 3)))
	})},
	"constants along the batch turned away from it": {want: perPlace, build: squared(func(g *enginetest.G) node {
		c := g.Constant("c", []float32{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}, g.Batch, 4)
		return g.Do(gorgonia.Add(hidden(g, 4), g.Do(gorgonia.Transpose(c))))
	})},
	"a parameter added to constants along the batch": {want: perPlace, build: squared(func(g *enginetest.G) node {
		c := g.Constant("c", make([]float32, 2*g.Batch), g.Batch, 2)
		return g.Do(gorgonia.Add(hidden(g, 2), g.Do(gorgonia.Add(c, g.Param("p", g.Batch, 2)))))
	})},
	"constants along the batch, multiplied across it": {want: perPlace, build: squared(func(g *enginetest.G) node {
		c := g.Constant("c", make([]float32, 4*g.Batch), g.Batch, 4)
		return g.Do(gorgonia.Add(hidden(g, 4), g.Do(gorgonia.Mul(g.Param("p", 4, g.Batch), c))))
	})},
	"some of the constants along the batch": {want: perPlace, build: squared(func(g *enginetest.G) node {
		c := g.Constant("c", []float32{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}, 4*g.Batch, 1)
		return g.Do(gorgonia.Add(hidden(g, 1), g.Do(gorgonia.Slice(c, gorgonia.S(1, 1+g.Batch)))))
	})},
	"a parameter for each place, joined": {want: perPlace, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Concat(1, g.In("x", 3), g.Param("b", g.Batch, 3)))
	})},
	"dot product with a parameter for each place": {want: perPlace, build: func(g *enginetest.G) (compile.Source, error) {
		return g.Done(nil, g.Do(gorgonia.Mul(g.Param("v", g.Batch), vector(g, ""))))
	}},
	"batched product with a parameter for each place": {want: perPlace, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.BatchedMatMul(g.Param("v", g.Batch, 2, 3), g.In("x", 3, 2)))
	})},
	"pixels of a parameter repeated": {want: notRepeated, build: summedUp(func(g *enginetest.G) node {
		up := g.Do(gorgonia.Upsample2D(g.Param("p", 1, 1, 2, 2), 2))
		return g.Do(gorgonia.Mul(g.Do(gorgonia.Sum(up)), g.Do(gorgonia.Sum(hidden(g, 2)))))
	})},
	"windows of a parameter": {want: notRepeated, build: func(g *enginetest.G) (compile.Source, error) {
		h := g.Do(gorgonia.Im2Col(g.Param("p", 1, 1, 4, 4), tensor.Shape{2, 2}, tensor.Shape{0, 0}, tensor.Shape{2, 2}, tensor.Shape{1, 1}))
		cost := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h))))
		return g.Done(nil, g.Do(gorgonia.Add(cost, g.Do(gorgonia.Sum(hidden(g, 2))))))
	}},
	"a parameter repeated, times a matrix": {want: isRepeated, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Add(hidden(g, 2), g.Do(gorgonia.Mul(repeatedOf(g, 3), g.Param("m", 3, 2)))))
	})},
	"samples times a parameter repeated": {want: isRepeated, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(g.In("y", g.Batch), repeated(g, 2)))
	})},
	"rows of a table repeated": {want: isRepeated, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.ByIndices(repeated(g, 2), g.Ids("ids"), 0))
	})},
	"a parameter summed over the batch": {want: "it sums a parameter over the batch, which counts it as often as there are samples", build: func(g *enginetest.G) (compile.Source, error) {
		return g.Done(nil, g.Do(gorgonia.Add(g.Do(gorgonia.Sum(hidden(g, 2))), g.Do(gorgonia.Sum(repeatedOf(g, 2))))))
	}},
	"the largest of a parameter": {want: sameForAll, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(hidden(g, 2), g.Do(gorgonia.Max(g.Param("p", 3)))))
	})},
	"dropout of a parameter": {want: sameForAll, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(g.In("x", 3), g.Do(gorgonia.Dropout(g.Param("w", 3, 2), 0.5))))
	}), fails: true},
	"batched product of other lengths": {want: dontFit, fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.BatchedMatMul(g.Do(gorgonia.Reshape(hidden(g, 6), tensor.Shape{g.Batch, 2, 3})), g.In("y", 2, 3)))
	})},
	"batched product of parameters": {want: "both of its operands are parameters", build: squared(func(g *enginetest.G) node {
		h := g.Do(gorgonia.BatchedMatMul(g.Param("p", 1, 3, 2), g.Param("q", 1, 2, 2)))
		return g.Do(gorgonia.Mul(g.In("x", 3), g.Do(gorgonia.Reshape(h, tensor.Shape{3, 2}))))
	})},

	// Integers, and indices.
	"integers multiplied": {want: "it reads integers", build: squared(func(g *enginetest.G) node {
		at := g.Ids("ids", 2)
		at = g.Do(gorgonia.Reshape(g.Do(gorgonia.HadamardProd(at, at)), tensor.Shape{2 * g.Batch}))
		return g.Do(gorgonia.ByIndices(g.Param("e", 20, 2), at, 0))
	})},
	"a sample's indices of its own values": {want: "its indices and what it picks from both depend on the sample", fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.ByIndices(hidden(g, 6), g.Ids("ids"), 1))
	})},
	"columns by a sample's indices": {want: "samples' integers pick from an axis that isn't the first of two or more", fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.ByIndices(g.Param("e", 2, 4), g.Ids("ids"), 1))
	})},
	"a constant of truths": {want: "it holds no floating-point numbers", fails: true, build: func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		truths := gorgonia.NewConstant(tensor.New(tensor.WithShape(4, 2), tensor.WithBacking(make([]bool, 8))))
		equal := g.Do(gorgonia.Eq(g.Do(gorgonia.Gt(h, g.Number(0), false)), truths, false))
		return g.Done(equal, g.Do(gorgonia.Sum(h)))
	}},

	// Shapes.
	"a column and a vector": {want: shapesDiffer, fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Add(hidden(g, 1), vector(g, "v")))
	})},
	"a column and a vector of parameters": {want: shapesDiffer, fails: true, build: squared(func(g *enginetest.G) node {
		p := g.Do(gorgonia.Add(g.Param("p", 3, 1), g.Param("q", 3)))
		return g.Do(gorgonia.Mul(g.In("x", 3), p))
	})},
	"a product that doesn't fit": {want: dontFit, fails: true, build: squared(func(g *enginetest.G) node {
		h := g.Do(gorgonia.Reshape(hidden(g, 15), tensor.Shape{3 * g.Batch, 5}))
		return g.Do(gorgonia.Mul(h, g.Param("v", 3*g.Batch)))
	})},
	"a product of parameters that doesn't fit": {want: dontFit, fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(g.In("x", 5), g.Do(gorgonia.Mul(g.Param("p", 3, 5), g.Param("q", 3)))))
	})},
	"rows as images": {want: notImages, fails: true, build: squared(func(g *enginetest.G) node {
		h := g.Do(gorgonia.Reshape(hidden(g, 12), tensor.Shape{g.Batch, 3, 4}))
		return g.Do(gorgonia.GroupNorm(h, g.Param("s", 1, 3, 1), g.Param("b", 1, 3, 1), 1, 3, 1e-5))
	})},
	"groups of different sizes": {want: "2 channels aren't 3 groups of one size", fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.GroupNorm(images(g), g.Param("s", 1, 2, 1, 1), g.Param("b", 1, 2, 1, 1), 3, 2, 1e-5))
	})},
	"everything dropped": {want: "it drops with probability 1", fails: true, build: squared(func(g *enginetest.G) node { return g.Do(gorgonia.Dropout(hidden(g, 2), 1)) })},
	"padding on one side": {want: "its padding differs between sides, which Gorgonia takes for one another", fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.MaxPool2D(images(g), tensor.Shape{2, 2}, []int{1, 0, 0, 1}, []int{1, 1}))
	})},
	"a number dropped": {want: isNumber, fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Mul(hidden(g, 1), g.Do(gorgonia.Dropout(g.Do(gorgonia.Mul(g.Do(gorgonia.SizeOf(1, g.In("y", 5))), g.Number(2))), 0.5))))
	})},

	// Operations without a rule.
	"another package's operation": {want: "it isn't one of Gorgonia's own, so nothing is known of what it keeps, prints or mixes", build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.ApplyOp(Iop{}, hidden(g, 2)))
	})},
	"a gradient in the cost": {want: noRule, fails: true, build: func(g *enginetest.G) (compile.Source, error) {
		h := g.Do(gorgonia.MaxPool2D(images(g), tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
		src, err := g.Squares(h)
		if err != nil {
			return src, err
		}
		grads, err := gorgonia.Grad(src.Cost, src.Inputs...)
		if err != nil {
			return src, err
		}
		return g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(grads[0])))))
	}},
	"outer product with a parameter": {want: "Gorgonia's own gradient of it is wrong", build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.OuterProd(vector(g, ""), g.Param("v", 3)))
	})},
	"contraction": {want: noRule, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Tensordot([]int{1}, []int{0}, hidden(g, 3), g.Param("v", 3, 2)))
	})},
	"sparse softmax": {want: noRule, build: squared(func(g *enginetest.G) node { return g.Do(gorgonia.Sparsemax(hidden(g, 3))) }), fails: true},
	"another type": {want: noRule, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.ConvType(hidden(g, 2), tensor.Float32, tensor.Float64))
	}), fails: true},
	"average pooling": {want: "average pooling divides by the width of the image", build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.AveragePool2D(images(g), tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
	})},
	"one element": {want: "it has no gradient", fails: true, build: squared(func(g *enginetest.G) node { return g.Do(gorgonia.At(hidden(g, 2), 0, 1)) })},
	"a diagonal": {want: "it has no gradient", fails: true, build: func(g *enginetest.G) (compile.Source, error) {
		h := vector(g, "")
		return g.Done(g.Do(gorgonia.DiagFlat(h)), g.Do(gorgonia.Sum(h)))
	}},
	"random numbers without a name": {want: "Gorgonia takes all random nodes of one shape for one, of whatever law, if they have no name", fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Add(hidden(g, 6), gorgonia.UniformRandomNode(g.Graph, tensor.Float32, 0, 1, g.Batch, 6)))
	})},
	"random numbers that got a name too late": {want: "Gorgonia takes all random nodes of one shape for one, of whatever law, if they have no name", fails: true, build: squared(func(g *enginetest.G) node {
		n := gorgonia.GaussianRandomNode(g.Graph, tensor.Float32, 0, 1, g.Batch, 6)
		gorgonia.WithName("noise")(n)
		return g.Do(gorgonia.Add(hidden(g, 6), n))
	})},
	"random numbers for all samples": {want: "its first axis isn't the batch", fails: true, build: squared(func(g *enginetest.G) node {
		n := g.Random("noise", gorgonia.UniformRandomNode(gorgonia.NewGraph(), tensor.Float32, 0, 1, 1, 6))
		return g.Do(gorgonia.BroadcastAdd(hidden(g, 6), n, nil, []byte{0}))
	})},
	"binomial numbers": {want: "it draws from a binomial law", fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Add(hidden(g, 6), g.Random("noise", gorgonia.BinomialRandomNode(gorgonia.NewGraph(), tensor.Float32, 1, 0.5, g.Batch, 6))))
	})},
	"random integers": {want: "its numbers are of type int", fails: true, build: squared(func(g *enginetest.G) node {
		ids := g.Random("noise", gorgonia.UniformRandomNode(gorgonia.NewGraph(), tensor.Int, 0, 5, g.Batch))
		return g.Do(gorgonia.HadamardProd(g.In("x", 2), g.Do(gorgonia.ByIndices(g.Param("table", 5, 2), ids, 0))))
	})},
	"a negative deviation": {want: "its numbers are 0 and -1", fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Add(hidden(g, 6), g.Random("noise", gorgonia.GaussianRandomNode(gorgonia.NewGraph(), tensor.Float32, 0, -1, g.Batch, 6))))
	})},
	"a high end below the low one": {want: "its numbers are 1 and 0", fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Add(hidden(g, 6), g.Random("noise", gorgonia.UniformRandomNode(gorgonia.NewGraph(), tensor.Float32, 1, 0, g.Batch, 6))))
	})},
	"one random number for all samples": {want: "its first axis isn't the batch", fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Add(hidden(g, 6), g.Random("noise", gorgonia.GaussianRandomNode(gorgonia.NewGraph(), tensor.Float32, 0, 1))))
	})},
	"a mean beyond single precision": {want: "its numbers are -1e+39 and 1", fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Add(hidden(g, 6), g.Random("noise", gorgonia.GaussianRandomNode(gorgonia.NewGraph(), tensor.Float32, -1e39, 1, g.Batch, 6))))
	})},
	"ends that are too far apart": {want: "its numbers are -3e+38 and 3e+38", fails: true, build: squared(func(g *enginetest.G) node {
		return g.Do(gorgonia.Add(hidden(g, 6), g.Random("noise", gorgonia.UniformRandomNode(gorgonia.NewGraph(), tensor.Float32, -3e38, 3e38, g.Batch, 6))))
	})},
	"a loss of sequences": {want: noRule, fails: true, build: func(g *enginetest.G) (compile.Source, error) {
		n := func(list ...int) node {
			return gorgonia.NewConstant(tensor.New(tensor.WithShape(len(list)), tensor.WithBacking(list)))
		}
		h := g.Do(gorgonia.Reshape(hidden(g, 6), tensor.Shape{3, g.Batch, 2}))
		return g.Done(nil, g.Do(gorgonia.CTCLoss(h, n(1, 1, 1, 1), n(3, 3, 3, 3), n(1, 1, 1, 1), gorgonia.ReductionSum)))
	}},
}

// repeatedOf returns a parameter repeated along the batch of an input of its own.
func repeatedOf(g *enginetest.G, features int) node {
	_, p, err := gorgonia.Broadcast(g.In("like", features), g.Param("p", 1, features), gorgonia.NewBroadcastPattern(nil, []byte{0}))
	return g.Do(p, err)
}

// costAndSum combines the cost with a sum over the batch alone by f, elementwise. The result isn't a sum of per-sample
// costs.
func costAndSum(f func(a, b node) (node, error), swap bool) source {
	return func(g *enginetest.G) (compile.Source, error) {
		h := hidden(g, 2)
		a, b := g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h)))), g.Do(gorgonia.Sum(h, 0))
		if swap {
			a, b = b, a
		}
		return g.Done(h, g.Do(gorgonia.Sum(g.Do(f(a, b)))))
	}
}
