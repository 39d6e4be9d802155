package models

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"github.com/dptrain/dptrain/internal/networks"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Linear applies x·W + b to the last axis of x [batch, …, inputs], with the result [batch, …, outputs]. Its parameters
// are name.weight [inputs, outputs], which is the transpose of PyTorch's, and name.bias [1, outputs].
func (b *Builder) Linear(name string, x *gorgonia.Node, outputs int) *gorgonia.Node {
	return b.in("linear "+name, func() *gorgonia.Node {
		b.check(x.Dims() > 1, "x has shape %v, want [batch, …, inputs]", x.Shape())
		initial := networks.KaimingUniform(last(x))
		return b.affine(x, b.Parameter(name+".weight", initial, last(x), outputs), b.Parameter(name+".bias", initial, 1, outputs))
	})
}

// affine returns x·w + bias for x [batch, …, inputs], w [inputs, outputs] and bias [1, outputs].
func (b *Builder) affine(x, w, bias *gorgonia.Node) *gorgonia.Node {
	y := b.Add(b.Do(gorgonia.Mul(b.rows(x), w)), bias)
	return b.reshape(y, append(slices.Clone(x.Shape()[:x.Dims()-1]), last(w))...)
}

// LayerNorm normalises x [batch, …, width] over the last axis, with 10⁻⁵ added to the variance. It multiplies the
// result by the parameter name.weight and adds name.bias, both [1, width].
func (b *Builder) LayerNorm(name string, x *gorgonia.Node) *gorgonia.Node {
	return b.in("layer norm "+name, func() *gorgonia.Node {
		b.check(x.Dims() > 1, "x has shape %v, want [batch, …, width]", x.Shape())
		rows := b.rows(x)
		column := func(n *gorgonia.Node) *gorgonia.Node { return b.reshape(n, rows.Shape()[0], 1) }
		// The compiler makes one instruction of these operations.
		d := b.Do(gorgonia.BroadcastSub(rows, column(b.Do(gorgonia.Mean(rows, 1))), nil, []byte{1}))
		variance := b.Do(gorgonia.Mean(b.Do(gorgonia.Square(d)), 1))
		deviation := b.Do(gorgonia.Sqrt(b.Do(gorgonia.Add(variance, number(1e-5)))))
		z := b.Do(gorgonia.BroadcastHadamardDiv(d, column(deviation), nil, []byte{1}))
		z = b.Multiply(z, b.Parameter(name+".weight", Value(1), 1, last(x)))
		return b.reshape(b.Add(z, b.Parameter(name+".bias", Value(0), 1, last(x))), x.Shape()...)
	})
}

// Embedding looks up rows of the parameter name.weight [vocabulary, width] by an input of integers from 0 to
// vocabulary-1, [batch, …], with the result [batch, …, width].
func (b *Builder) Embedding(name string, ids *gorgonia.Node, vocabulary, width int) *gorgonia.Node {
	return b.in("embedding "+name, func() *gorgonia.Node {
		b.check(ids.Dtype() == tensor.Int, "ids of type %v, want integers", ids.Dtype())
		return b.Lookup(b.Parameter(name+".weight", Normal(1), vocabulary, width), ids)
	})
}

// Lookup returns the rows of a table [rows, width] that integers [batch, …] index: [batch, …, width].
func (b *Builder) Lookup(table, ids *gorgonia.Node) *gorgonia.Node {
	rows := b.Do(gorgonia.ByIndices(table, b.reshape(ids, ids.Shape().TotalSize()), 0))
	return b.reshape(rows, append(slices.Clone(ids.Shape()), last(table))...)
}

// AttentionOptions are the options of [Builder.Attention].
type AttentionOptions struct {
	Causal bool           // each token attends to itself and earlier tokens
	Mask   *gorgonia.Node // [batch, tokens]: 1 for tokens, 0 for padding, to which no token attends; may be nil
}

// Attention is multi-head self-attention with scaled scores for x [batch, tokens, width], and a linear layer after it.
// The result has the shape of x. A token that has none to attend to gets the linear layer's bias. The parameters are
// those of PyTorch's MultiheadAttention, transposed: name.in_proj_weight [width, 3·width] and name.in_proj_bias [1,
// 3·width] for queries, keys and values, name.out_proj.weight [width, width] and name.out_proj.bias [1, width].
func (b *Builder) Attention(name string, x *gorgonia.Node, heads int, o AttentionOptions) *gorgonia.Node {
	return b.in("attention "+name, func() *gorgonia.Node {
		b.check(x.Dims() == 3, "x has shape %v, want [batch, tokens, width]", x.Shape())
		tokens, width := x.Shape()[1], x.Shape()[2]
		b.check(heads > 0 && width%heads == 0, "%d heads don't divide a width of %d", heads, width)
		b.checkShape("mask", o.Mask, b.batch, tokens)

		weight := b.Parameter(name+".in_proj_weight", Uniform(math.Sqrt(6/float64(4*width))), width, 3*width)
		all := b.affine(x, weight, b.Parameter(name+".in_proj_bias", Value(0), 1, 3*width))
		part := func(k int) *gorgonia.Node { // [batch, heads, tokens, width/heads]
			h := b.reshape(b.part(all, 2, k, 3), b.batch, tokens, heads, width/heads)
			return b.Do(gorgonia.Transpose(h, 0, 2, 1, 3))
		}
		values := part(2)
		scores := b.Do(gorgonia.BatchedMatMul(part(0), part(1), false, true)) // [batch, heads, queries, keys]
		scores = b.Do(gorgonia.Mul(scores, number(float32(1/math.Sqrt(float64(width/heads))))))
		// The exponential of these scores is 0 in float32. A token that could attend to padding alone gives it all
		// weight, since later tokens score lower, and the values of padding are 0.
		const padding, later = 1e9, -2e9
		if o.Causal {
			added := make([]float32, tokens*tokens)
			for i := range added {
				if query, key := i/tokens, i%tokens; key > query {
					added[i] = later
				}
			}
			scores = b.Add(scores, b.Constant(added, 1, 1, tokens, tokens))
		}
		if o.Mask != nil {
			added := b.Do(gorgonia.Mul(b.Do(gorgonia.Sub(o.Mask, number(1))), number(padding)))
			scores = b.Add(scores, b.reshape(added, b.batch, 1, 1, tokens))
			values = b.Multiply(values, b.reshape(o.Mask, b.batch, 1, tokens, 1))
		}
		mixed := b.Do(gorgonia.BatchedMatMul(b.Do(gorgonia.SoftMax(scores, 3)), values))
		mixed = b.reshape(b.Do(gorgonia.Transpose(mixed, 0, 2, 1, 3)), x.Shape()...)
		weight = b.Parameter(name+".out_proj.weight", networks.KaimingUniform(width), width, width)
		return b.affine(mixed, weight, b.Parameter(name+".out_proj.bias", Value(0), 1, width))
	})
}

// checkShape checks the shape of an operand, unless it is nil.
func (b *Builder) checkShape(name string, x *gorgonia.Node, want ...int) {
	if x != nil {
		b.check(slices.Equal(x.Shape(), want), "%s of shape %v, want %v", name, x.Shape(), want)
	}
}

// LSTM is a long short-term memory over x [batch, steps, inputs]. It returns the states h of all steps [batch, steps,
// width], and begins with zeros. mask [batch, steps] may be nil. A step where it is 0, for padding, keeps the state, so
// that the last step has the state after the last token. There are at most 255 steps.
//
// The equations are PyTorch's, and so are the names of the parameters, whose matrices are transposed:
// name.weight_ih_l0 [inputs, 4·width], name.weight_hh_l0 [width, 4·width], name.bias_ih_l0 and name.bias_hh_l0 [1,
// 4·width], with columns for the gates i, f, g and o.
func (b *Builder) LSTM(name string, x *gorgonia.Node, width int, mask *gorgonia.Node) *gorgonia.Node {
	return b.recurrent("lstm "+name, name, x, width, 4, 2, mask, func(in, back gates, state gorgonia.Nodes) gorgonia.Nodes {
		gate := func(k int) *gorgonia.Node { return b.Add(in(k), back(k)) }
		i, f, o := b.Do(gorgonia.Sigmoid(gate(0))), b.Do(gorgonia.Sigmoid(gate(1))), b.Do(gorgonia.Sigmoid(gate(3)))
		c := b.Add(b.Multiply(f, state[1]), b.Multiply(i, b.Do(gorgonia.Tanh(gate(2)))))
		return gorgonia.Nodes{b.Multiply(o, b.Do(gorgonia.Tanh(c))), c}
	})
}

// GRU is a gated recurrent unit, with the operands, result and parameters of [Builder.LSTM]. The parameters have
// columns for PyTorch's gates r, z and n.
func (b *Builder) GRU(name string, x *gorgonia.Node, width int, mask *gorgonia.Node) *gorgonia.Node {
	return b.recurrent("gru "+name, name, x, width, 3, 1, mask, func(in, back gates, state gorgonia.Nodes) gorgonia.Nodes {
		r, z := b.Do(gorgonia.Sigmoid(b.Add(in(0), back(0)))), b.Do(gorgonia.Sigmoid(b.Add(in(1), back(1))))
		n := b.Do(gorgonia.Tanh(b.Add(in(2), b.Multiply(r, back(2)))))
		return gorgonia.Nodes{b.Add(n, b.Multiply(z, b.Do(gorgonia.Sub(state[0], n))))}
	})
}

// gates returns the columns [batch, width] of gate k.
type gates func(k int) *gorgonia.Node

// recurrent adds a recurrent layer with n gates. step returns the states after a step, h first, for the gates' terms of
// the step's input and of h, and the states before it, which are zeros at first.
func (b *Builder) recurrent(
	layer, name string, x *gorgonia.Node, width, n, states int, mask *gorgonia.Node,
	step func(in, back gates, state gorgonia.Nodes) gorgonia.Nodes,
) *gorgonia.Node {
	return b.in(layer, func() *gorgonia.Node {
		b.check(x.Dims() == 3, "x has shape %v, want [batch, steps, inputs]", x.Shape())
		steps := x.Shape()[1]
		b.checkShape("mask", mask, b.batch, steps)

		parameter := func(part string, rows int) *gorgonia.Node {
			return b.Parameter(name+part, networks.KaimingUniform(width), rows, n*width)
		}
		wx, wh := parameter(".weight_ih_l0", last(x)), parameter(".weight_hh_l0", width)
		bx, bh := parameter(".bias_ih_l0", 1), parameter(".bias_hh_l0", 1)
		all := b.reshape(b.affine(x, wx, bx), b.batch, steps*n*width)
		of := func(terms *gorgonia.Node) gates {
			return func(k int) *gorgonia.Node { return b.part(terms, 1, k, n) }
		}
		zero := b.Do(gorgonia.Mul(of(b.part(all, 1, 0, steps))(0), number(0)))
		state, outputs := slices.Repeat(gorgonia.Nodes{zero}, states), gorgonia.Nodes{}
		for t := range steps {
			next := step(of(b.part(all, 1, t, steps)), of(b.affine(state[0], wh, bh)), state)
			if mask != nil {
				present := b.part(mask, 1, t, steps)
				absent := b.Do(gorgonia.Sub(number(1), present))
				for k := range next {
					next[k] = b.Add(b.Multiply(next[k], present), b.Multiply(state[k], absent))
				}
			}
			state = next
			outputs = append(outputs, state[0])
		}
		return b.reshape(b.Do(gorgonia.Concat(1, outputs...)), b.batch, steps, width)
	})
}

// CrossEntropy returns the cost of logits [batch, …, classes]: for each sample the mean of its positions' costs, summed
// over the samples. classes are integers [batch, …], of at most 4,096 classes, or probabilities in the shape of the
// logits, such as one-hot rows. mask [batch, …] weighs the positions in the mean, by 0 for padding, and may be nil. A
// sample of padding alone costs 0.
func (b *Builder) CrossEntropy(logits, classes, mask *gorgonia.Node) *gorgonia.Node {
	return b.in("cross-entropy", func() *gorgonia.Node {
		b.check(logits.Dims() > 1, "logits of shape %v, want [batch, …, classes]", logits.Shape())
		n, positions := last(logits), logits.Shape()[:logits.Dims()-1]
		b.checkShape("mask", mask, positions...)
		if classes.Dtype() == tensor.Int {
			b.checkShape("integers", classes, positions...)
			b.check(n <= 4096, "integers of %d classes, want at most 4096; use an input of one-hot rows", n)
			oneHot := make([]float32, n*n)
			for i := range n {
				oneHot[i*n+i] = 1
			}
			classes = b.Lookup(b.Constant(oneHot, n, n), classes)
		}
		b.checkShape("classes", classes, logits.Shape()...)
		samples := func(x *gorgonia.Node) *gorgonia.Node { return b.reshape(x, b.batch, positions.TotalSize()/b.batch) }
		l := b.Do(gorgonia.LogSoftMax(b.rows(logits), 1))
		b.check(graph.FieldsOf(l.Op()).Bool("isLog"), "Gorgonia takes the LogSoftMax of logits for a SoftMax that was made of them before; make the cross-entropy first, and the softmax as Exp of a LogSoftMax")
		cost := b.Do(gorgonia.HadamardProd(l, b.rows(classes)))
		cost = samples(b.Do(gorgonia.Neg(b.Do(gorgonia.Sum(cost, 1)))))
		if mask == nil {
			return b.Do(gorgonia.Sum(b.Do(gorgonia.Mean(cost, 1))))
		}
		cost = b.Do(gorgonia.Sum(b.Multiply(cost, samples(mask)), 1))
		weight := b.Do(gorgonia.Sum(samples(mask), 1))
		none := b.Do(gorgonia.Eq(weight, number(0), true)) // 1 for a sample of padding alone, in place of dividing by 0
		return b.Do(gorgonia.Sum(b.Do(gorgonia.HadamardDiv(cost, b.Add(weight, none)))))
	})
}
