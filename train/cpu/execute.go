package cpu

import (
	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/cpu/internal/kernel"
)

// execute runs instructions over the samples in the block.
func (b *block) execute(code []compile.Instruction) {
	for i := range code {
		in := &code[i]
		if in.Op < compile.UnaryBack {
			b.forward(in)
		} else {
			b.backward(in)
		}
	}
}

func (b *block) forward(in *compile.Instruction) {
	z := b.buf(in.Out)
	if in.Op == compile.Fill {
		for i := range z {
			z[i] = in.Scalar
		}
		return
	}
	x := b.buf(in.In[0])
	switch in.Op {
	case compile.Unary:
		unary(in.Func, z, x)
	case compile.Binary:
		for s := range b.n {
			binary(in.Func, b.row(in.Out, s), b.row(in.In[0], s), b.row(in.In[1], s))
		}
	case compile.BinaryScalar:
		binaryScalar(in.Func, z, x, in.Scalar, in.Swap)
	case compile.MatMul:
		m, w := b.n*in.Rows, b.bound.source(in.In[1])
		kernel.Gemm(false, in.TransB, m, in.N, in.K, 1, x, in.K, w, ldb(in), 0, z, in.N)
	case compile.Conv:
		b.conv(in)
	case compile.MaxPool:
		for s := range b.n {
			w, where := in.Window, b.rowIndices(in.Aux, s)
			kernel.MaxPool(b.row(in.Out, s), where, b.row(in.In[0], s), w.C, w.H, w.W, w.KH, w.KW, w.PadH, w.PadW, w.StrideH, w.StrideW)
		}
	case compile.Permute, compile.Gather:
		for s := range b.n {
			z, x := b.row(in.Out, s), b.row(in.In[0], s)
			for j, k := range in.Map {
				z[j] = x[k]
			}
		}
	case compile.Reduce:
		clear(z)
		for s := range b.n {
			z, x := b.row(in.Out, s), b.row(in.In[0], s)
			for j, k := range in.Map {
				z[k] += x[j]
			}
		}
	case compile.Softmax:
		kernel.Softmax(z, x, b.n*in.Rows, in.K)
	case compile.LogSoftmax:
		kernel.LogSoftmax(z, x, b.n*in.Rows, in.K)
	}
}

// ldb is the row length of a product's stored parameter.
func ldb(in *compile.Instruction) int {
	if in.TransB {
		return in.K
	}
	return in.N
}

func (b *block) rowIndices(id compile.ID, s int) []int32 {
	size := b.Values[id].Size
	return b.at[id].indices[s*size : (s+1)*size]
}

// conv multiplies each sample's patches by the filters. The product that needs no packing has the
// positions as rows; the result is turned around afterwards.
func (b *block) conv(in *compile.Instruction) {
	w, filter := in.Window, b.bound.transposed[in.In[1]]
	byPosition := b.room(in.N * in.Rows)
	for s := range b.n {
		col := b.row(in.Aux, s)
		kernel.Im2col(col, b.row(in.In[0], s), w.C, w.H, w.W, w.KH, w.KW, w.PadH, w.PadW, w.StrideH, w.StrideW, w.DilationH, w.DilationW)
		kernel.Gemm(false, false, in.N, in.Rows, in.K, 1, col, in.K, filter, in.Rows, 0, byPosition, in.Rows)
		kernel.Transpose(b.row(in.Out, s), byPosition, in.N, in.Rows)
	}
}

func (b *block) backward(in *compile.Instruction) {
	dz, dx := b.buf(in.In[0]), b.buf(in.Out)
	beta := float32(0)
	if in.Accumulate {
		beta = 1
	}
	switch in.Op {
	case compile.UnaryBack:
		b.chain(dx, dz, in.Accumulate, unaryDerivative(in.Func, b.reads(in, 1), b.reads(in, 2)))
	case compile.ScalarBack:
		b.chain(dx, dz, in.Accumulate, scalarDerivative(in, b.reads(in, 1), b.reads(in, 2)))
	case compile.BinaryBack:
		for s := range b.n {
			x, y, z := b.row(in.In[1], s), b.row(in.In[2], s), b.row(in.In[3], s)
			b.chain(b.row(in.Out, s), b.row(in.In[0], s), in.Accumulate, binaryDerivative(in, x, y, z))
		}
	case compile.MatMulBack:
		m, w := b.n*in.Rows, b.bound.source(in.In[1])
		kernel.Gemm(false, !in.TransB, m, in.K, in.N, 1, dz, in.N, w, ldb(in), beta, dx, in.K)
	case compile.GradMatMul:
		for s := range b.n {
			g, d, x := b.row(in.Out, s), b.row(in.In[0], s), b.row(in.In[1], s)
			if in.TransB {
				kernel.Gemm(true, false, in.N, in.K, in.Rows, 1, d, in.N, x, in.K, beta, g, in.K)
			} else {
				kernel.Gemm(true, false, in.K, in.N, in.Rows, 1, x, in.K, d, in.N, beta, g, in.N)
			}
		}
	case compile.GradConv:
		for s := range b.n {
			kernel.Gemm(false, false, in.Rows, in.K, in.N, 1, b.row(in.In[0], s), in.N, b.row(in.Aux, s), in.K, beta, b.row(in.Out, s), in.K)
		}
	case compile.SoftmaxBack, compile.LogSoftmaxBack:
		if !in.Accumulate {
			clear(dx)
		}
		softmaxBack(in, dx, dz, b.buf(in.In[1]), b.n*in.Rows)
	default:
		if !in.Accumulate {
			clear(dx)
		}
		for s := range b.n {
			b.scatter(in, s)
		}
	}
}

// reads returns an operand of a derivative, or nil where the plan has let it go.
func (b *block) reads(in *compile.Instruction, k int) []float32 {
	if id := in.In[k]; b.Values[id].Kind != compile.Buffer || b.at[id].floats != nil {
		return b.buf(id)
	}
	return nil
}

// scatter adds one sample's part to the result of an instruction that moves gradients around.
func (b *block) scatter(in *compile.Instruction, s int) {
	dz, dx := b.row(in.In[0], s), b.row(in.Out, s)
	switch w := in.Window; in.Op {
	case compile.ConvBack:
		col, filter := b.row(in.Aux, s), b.bound.source(in.In[1])
		kernel.Gemm(true, false, in.N, in.K, in.Rows, 1, dz, in.N, filter, in.K, 0, col, in.K)
		kernel.Col2im(dx, col, w.C, w.H, w.W, w.KH, w.KW, w.PadH, w.PadW, w.StrideH, w.StrideW, w.DilationH, w.DilationW)
	case compile.MaxPoolBack:
		kernel.MaxPoolBackward(dx, dz, b.rowIndices(in.Aux, s))
	case compile.PermuteBack, compile.GatherBack, compile.GradSpread:
		spreadBack(dx, dz, in.Map, in.Run)
	case compile.ReduceBack:
		for j, k := range in.Map {
			dx[j] += dz[k]
		}
	}
}

// spreadBack adds each dz[j] to dx[m[j]]. A bias over a vector and one over an image are the common maps.
func spreadBack(dx, dz []float32, m []int32, run int) {
	switch run {
	case 0:
		for j, k := range m {
			dx[k] += dz[j]
		}
	case 1:
		kernel.Add(dx, dx, dz)
	default:
		for k := range dx {
			dx[k] += kernel.Sum(dz[k*run : (k+1)*run])
		}
	}
}

// softmaxBack adds the gradient through a (log) softmax whose rows are z.
func softmaxBack(in *compile.Instruction, dx, dz, z []float32, rows int) {
	k := in.K
	for r := range rows {
		dx, dz, z := dx[r*k:(r+1)*k], dz[r*k:(r+1)*k], z[r*k:(r+1)*k]
		if in.Op == compile.SoftmaxBack {
			dot := kernel.Dot(dz, z)
			for j := range dx {
				dx[j] += z[j] * (dz[j] - dot)
			}
			continue
		}
		total := kernel.Sum(dz)
		var probs [64]float32
		for from := 0; from < k; from += len(probs) {
			to := min(from+len(probs), k)
			p := probs[:to-from]
			kernel.Exp(p, z[from:to])
			for j := range p {
				dx[from+j] += dz[from+j] - p[j]*total
			}
		}
	}
}
