package models

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// GaussianRandomNode is gorgonia.GaussianRandomNode with a name, which no other node of g has: numbers of a normal law,
// drawn anew at each step for each sample, from the run's key. A prediction has the mean in their place. The first axis
// of shape is the batch. Training refuses random nodes without names, since Gorgonia (v0.9.18) takes all that have one
// shape for one node, whatever their laws.
func GaussianRandomNode(g *gorgonia.ExprGraph, name string, dt tensor.Dtype, mean, stdev float64, shape ...int) (*gorgonia.Node, error) {
	return named(g, name, gorgonia.GaussianRandomNode(gorgonia.NewGraph(), dt, mean, stdev, slices.Clone(shape)...))
}

// UniformRandomNode is gorgonia.UniformRandomNode with a name, like [GaussianRandomNode]: numbers from low to high in
// steps of 2⁻²⁴ of the range. Single precision rounds them, so that one may be the smallest step above high: mind
// logarithms and roots near an end, whose infinities leave the sample out of a step.
func UniformRandomNode(g *gorgonia.ExprGraph, name string, dt tensor.Dtype, low, high float64, shape ...int) (*gorgonia.Node, error) {
	return named(g, name, gorgonia.UniformRandomNode(gorgonia.NewGraph(), dt, low, high, slices.Clone(shape)...))
}

// named adds a copy of a random node, with a name, to a graph.
func named(g *gorgonia.ExprGraph, name string, n *gorgonia.Node) (*gorgonia.Node, error) {
	if name == "" || len(g.ByName(name)) > 0 {
		return nil, fmt.Errorf("a random node with the name %q: want a name that no other node of the graph has", name)
	}
	return gorgonia.NewUniqueNode(gorgonia.In(g), gorgonia.WithType(n.Type()), gorgonia.WithOp(n.Op()), gorgonia.WithShape(n.Shape()...), gorgonia.WithName(name)), nil
}

// GaussianNoise adds numbers [batch, shape…] of a normal law, drawn anew at each step for each sample, from the run's
// key. A prediction has the mean in their place. No other node has its name.
func (b *Builder) GaussianNoise(name string, mean, deviation float64, shape ...int) *gorgonia.Node {
	return b.Do(GaussianRandomNode(b.graph.Expr, name, tensor.Float32, mean, deviation, append([]int{b.batch}, shape...)...))
}

// UniformNoise adds numbers [batch, shape…] from low to high, like [Builder.GaussianNoise]. From 0 to 1 a number is
// below p, by gorgonia.Lt, with probability p, rounded up to a multiple of 2⁻²⁴: a coin. In a prediction the number is
// ½, and coins with p above ½ fall on 1. For a mask that predictions shouldn't have, use dropout.
func (b *Builder) UniformNoise(name string, low, high float64, shape ...int) *gorgonia.Node {
	return b.Do(UniformRandomNode(b.graph.Expr, name, tensor.Float32, low, high, append([]int{b.batch}, shape...)...))
}
