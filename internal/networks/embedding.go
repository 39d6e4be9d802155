package networks

import (
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// EmbeddingClassifier builds a network for texts: see package models.
func EmbeddingClassifier(o Options, vocabulary, length, width, hidden, classes int) (Model, error) {
	return newBuilder(o).build(func(b *builder) (output, cost *gorgonia.Node) {
		return b.embeddingClassifier(vocabulary, length, width, hidden, classes)
	})
}

func (b *builder) embeddingClassifier(vocabulary, length, width, hidden, classes int) (output, cost *gorgonia.Node) {
	Require(min(vocabulary, length, width, hidden) >= 1 && classes >= 2,
		"build graph: an embedding classifier needs a vocabulary, a length and widths, and two classes, got %d, %d, %d, %d and %d",
		vocabulary, length, width, hidden, classes)
	ids, weights := b.Input("ids", tensor.Int, length), b.input("weights", length)
	x := b.mean(b.embedding("embedding", ids, vocabulary, length, width), weights, length)
	x = b.rectify(b.linear("fc1", x, width, hidden))
	return b.trained(b.linear("fc2", x, hidden, classes), classes)
}

// embedding adds a parameter [vocabulary, width] and gathers its rows by ids [batch, length]: [batch, length, width].
func (b *builder) embedding(name string, ids *gorgonia.Node, vocabulary, length, width int) *gorgonia.Node {
	b.layer(Layer{Kind: KindEmbedding, Name: name, In: vocabulary, Out: width})
	table := b.Parameter(name+".weight", Normal(1), vocabulary, width)
	rows := Do(gorgonia.ByIndices(table, Do(gorgonia.Reshape(ids, tensor.Shape{b.Batch * length})), 0))
	return Do(gorgonia.Reshape(rows, tensor.Shape{b.Batch, length, width}))
}

// mean sums x [batch, length, width] over its second axis, with weights [batch, length]: [batch, width].
func (b *builder) mean(x, weights *gorgonia.Node, length int) *gorgonia.Node {
	b.layer(Layer{Kind: KindMean})
	column := Do(gorgonia.Reshape(weights, tensor.Shape{b.Batch, length, 1}))
	return Do(gorgonia.Sum(Do(gorgonia.BroadcastHadamardProd(x, column, nil, []byte{2})), 1))
}
