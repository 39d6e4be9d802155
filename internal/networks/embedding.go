package networks

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// EmbeddingClassifier builds a network for texts: see package models.
func EmbeddingClassifier(o Options, vocabulary, length, width, hidden, classes int) (Model, error) {
	return newBuilder(o).embeddingClassifier(vocabulary, length, width, hidden, classes)
}

func (b *builder) embeddingClassifier(vocabulary, length, width, hidden, classes int) (Model, error) {
	if min(vocabulary, length, width, hidden) < 1 || classes < 2 {
		return Model{}, fmt.Errorf("build graph: an embedding classifier needs a vocabulary, a length and widths, and two classes, got %d, %d, %d, %d and %d",
			vocabulary, length, width, hidden, classes)
	}
	ids, weights := b.ids("ids", length), b.input("weights", length)
	x := b.embedding("embedding", ids, vocabulary, length, width)
	x = b.mean(x, weights, length)
	x = b.linear("fc1", x, width, hidden)
	b.layer(Layer{Kind: KindReLU})
	x = b.do("relu", func() (*gorgonia.Node, error) { return gorgonia.Rectify(x) })
	return b.model(b.linear("fc2", x, hidden, classes), classes, ids, weights)
}

// ids adds an input of integers, of the type that Gorgonia requires for indices.
func (b *builder) ids(name string, shape ...int) *gorgonia.Node {
	shape = append([]int{b.opts.Batch}, shape...)
	return gorgonia.NewTensor(b.graph, tensor.Int, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name))
}

// embedding adds a parameter [vocabulary, width] and gathers its rows by ids [batch, length]: [batch, length, width].
func (b *builder) embedding(name string, ids *gorgonia.Node, vocabulary, length, width int) *gorgonia.Node {
	b.layer(Layer{Kind: KindEmbedding, Name: name, In: vocabulary, Out: width})
	table := b.param(name+".weight", Normal(1), vocabulary, width)
	flat := b.do(name+" ids", func() (*gorgonia.Node, error) { return gorgonia.Reshape(ids, tensor.Shape{b.opts.Batch * length}) })
	rows := b.do(name, func() (*gorgonia.Node, error) { return gorgonia.ByIndices(table, flat, 0) })
	return b.do(name+" rows", func() (*gorgonia.Node, error) {
		return gorgonia.Reshape(rows, tensor.Shape{b.opts.Batch, length, table.Shape()[1]})
	})
}

// mean sums x [batch, length, width] over its second axis, with weights [batch, length]: [batch, width].
func (b *builder) mean(x, weights *gorgonia.Node, length int) *gorgonia.Node {
	b.layer(Layer{Kind: KindMean})
	column := b.do("mean weights", func() (*gorgonia.Node, error) {
		return gorgonia.Reshape(weights, tensor.Shape{b.opts.Batch, length, 1})
	})
	x = b.do("mean", func() (*gorgonia.Node, error) { return gorgonia.BroadcastHadamardProd(x, column, nil, []byte{2}) })
	return b.do("mean", func() (*gorgonia.Node, error) { return gorgonia.Sum(x, 1) })
}
