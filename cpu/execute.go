package cpu

import (
	"slices"

	"github.com/dptrain/dptrain/cpu/internal/kernel"
	"github.com/dptrain/dptrain/internal/compile"
)

// execute runs instructions over the microbatch.
func (b *microbatch) execute(code []instruction) {
	for i := range code {
		b.apply(&code[i])
	}
}

// apply runs one instruction: for all samples at once if the operands' rows are consecutive in memory, otherwise sample
// by sample.
func (b *microbatch) apply(in *instruction) {
	z := b.rows(in.Out)
	switch in.Op {
	case compile.Fill:
		fill(z, in.Scalar)
	case compile.Unary:
		unary(in.Func, z, b.rows(in.In[0]))
	case compile.BinaryScalar:
		binaryScalar(in.Func, z, b.rows(in.In[0]), in.Scalar, in.Swap)
	case compile.Normals, compile.Uniforms:
		for s := range b.n {
			b.random(in, b.row(in.Out, s), s)
		}
	case compile.UnaryBack:
		b.chain(z, b.rows(in.In[0]), in.Accumulate, unaryDerivative(in.Func, b.rows(in.In[1]), b.rows(in.In[2])))
	case compile.ScalarBack:
		b.chainScalar(in, z, b.rows(in.In[0]), b.rows(in.In[1]), b.rows(in.In[2]))
	case compile.MatMul, compile.MatMulBack:
		b.matMul(in, z)
	case compile.Lookup:
		kernel.GatherRows(z[:b.n*in.Rows*in.K], b.bound.stored(in.In[1]), b.at[in.In[0]].indices[:b.n*in.Rows], in.K)
	case compile.Softmax:
		kernel.Softmax(z, b.rows(in.In[0]), b.n*in.Rows, in.K)
	case compile.LogSoftmax:
		kernel.LogSoftmax(z, b.rows(in.In[0]), b.n*in.Rows, in.K)
	case compile.Product:
		kernel.Products(in.TransA, in.TransB, b.n*in.Groups, in.Rows, in.N, in.K, b.rows(in.In[0]), b.rows(in.In[1]), in.Accumulate, z)
	case compile.Normalize:
		kernel.Normalize(z, b.rows(in.In[0]), b.n*in.Rows, in.K, in.Scalar)
	case compile.NormalizeBack:
		kernel.NormalizeBackward(z, b.rows(in.In[0]), b.rows(in.In[1]), b.n*in.Rows, in.K, in.Scalar, in.Accumulate)
	case compile.SoftmaxBack, compile.LogSoftmaxBack:
		if !in.Accumulate {
			clear(z)
		}
		b.softmaxBack(in, z, b.rows(in.In[0]), b.rows(in.In[1]))
	default:
		if b.applyRows(in, z) {
			return
		}
		if sums(in.Op) && !in.Accumulate {
			clear(z)
		}
		for s := range b.n {
			b.applySample(in, s)
		}
	}
}

// applyRows runs a function of two operands for all samples at once, if both operands have a row for each sample, and
// reports whether it did.
func (b *microbatch) applyRows(in *instruction, z []float32) bool {
	shared := func(id compile.ID) bool { return b.values[id].Kind == compile.Shared }
	switch {
	case in.Op != compile.Binary && in.Op != compile.BinaryBack || slices.ContainsFunc(in.In, shared):
		return false
	case in.Op == compile.Binary:
		binary(in.Func, z, b.rows(in.In[0]), b.rows(in.In[1]))
	default:
		b.chainBinary(in, z, b.rows(in.In[0]), b.rows(in.In[1]), b.rows(in.In[2]), b.rows(in.In[3]))
	}
	return true
}

// sums reports whether an operation always adds to its result, which must be 0 at first.
func sums(op compile.Op) bool {
	switch op {
	case compile.Scatter, compile.ConvBack, compile.MaxPoolBack, compile.GradSpread, compile.GradLookup:
		return true
	}
	return false
}

// applySample runs one instruction for sample s.
func (b *microbatch) applySample(in *instruction, s int) {
	z, x, w := b.row(in.Out, s), b.row(in.In[0], s), in.Window
	switch in.Op {
	case compile.Binary:
		binary(in.Func, z, x, b.row(in.In[1], s))
	case compile.BinaryBack:
		b.chainBinary(in, z, x, b.row(in.In[1], s), b.row(in.In[2], s), b.row(in.In[3], s))
	case compile.Gather:
		if in.copies && s > 0 {
			copy(z, b.row(in.Out, 0))
		} else {
			gather(in, z, x)
		}
	case compile.Scatter:
		scatter(in, z, x)
	case compile.GradSpread:
		spread(in, z, x)
	case compile.Dropout:
		b.dropout(in, z, x, s)
	case compile.Conv:
		b.conv(in, z, x, s)
	case compile.ConvBack:
		columns := b.row(in.columns, s)
		kernel.Gemm(true, false, w.Positions(), w.Patch(), w.OutC, x, w.Positions(), b.bound.stored(in.In[1]), w.Patch(), false, columns, w.Patch())
		kernel.Col2im(z, columns, w.C, w.H, w.W, w.KH, w.KW, w.PadH, w.PadW, w.StrideH, w.StrideW, w.DilationH, w.DilationW)
	case compile.GradConv:
		columns := b.row(in.columns, s)
		if in.unrolls {
			unroll(columns, b.row(in.In[1], s), w)
		}
		kernel.Gemm(false, false, w.OutC, w.Patch(), w.Positions(), x, w.Positions(), columns, w.Patch(), in.Accumulate, z, w.Patch())
	case compile.MaxPool:
		kernel.MaxPool(z, b.indices(in.Where, s), x, w.C, w.H, w.W, w.KH, w.KW, w.PadH, w.PadW, w.StrideH, w.StrideW)
	case compile.MaxPoolBack:
		kernel.MaxPoolBackward(z, x, b.indices(in.In[1], s))
	case compile.GradLookup:
		for r, v := range b.indices(in.In[1], s) {
			row := z[int(v)*in.K:][:in.K]
			kernel.Add(row, row, x[r*in.K:][:in.K])
		}
	case compile.GradMatMul:
		y := b.row(in.In[1], s)
		if in.TransB {
			kernel.Gemm(true, false, in.N, in.K, in.Rows, x, in.N, y, in.K, in.Accumulate, z, in.K)
		} else {
			kernel.Gemm(true, false, in.K, in.N, in.Rows, y, in.K, x, in.N, in.Accumulate, z, in.N)
		}
	}
}

// matMul multiplies the microbatch's rows by a stored matrix, or by its transpose.
func (b *microbatch) matMul(in *instruction, z []float32) {
	m, w, x := b.n*in.Rows, b.bound.stored(in.In[1]), b.rows(in.In[0])
	ldb := in.N // the row length of the stored matrix
	if in.TransB {
		ldb = in.K
	}
	if in.Op == compile.MatMul {
		kernel.Gemm(false, in.TransB, m, in.N, in.K, x, in.K, w, ldb, false, z, in.N)
	} else {
		kernel.Gemm(false, !in.TransB, m, in.K, in.N, x, in.N, w, ldb, in.Accumulate, z, in.K)
	}
}

// conv multiplies a sample's patches by the filters. The product that needs no packing has positions as rows; the
// result is transposed afterwards.
func (b *microbatch) conv(in *instruction, z, x []float32, s int) {
	w, columns := in.Window, b.row(in.columns, s)
	unroll(columns, x, w)
	kernel.Gemm(false, false, w.Positions(), w.OutC, w.Patch(), columns, w.Patch(), b.bound.transposed[filterOf(&in.Instruction)], w.OutC, false, b.position, w.OutC)
	kernel.Transpose(z, b.position[:len(z)], w.Positions(), w.OutC)
}

// unroll writes the patch at each output position as a row.
func unroll(columns, x []float32, w *compile.Window) {
	kernel.Im2col(columns, x, w.C, w.H, w.W, w.KH, w.KW, w.PadH, w.PadW, w.StrideH, w.StrideW, w.DilationH, w.DilationW)
}

// gather computes z[j] = x[positions[j]], or adds it. Most views repeat a whole value, or each element of one.
func gather(in *instruction, z, x []float32) {
	switch {
	case in.stretch > 0 && in.Accumulate:
		for j := 0; j < len(z); j += in.stretch {
			to := z[j : j+in.stretch]
			kernel.Add(to, to, x[in.positions[j]:][:in.stretch])
		}
	case in.Accumulate:
		for j, k := range in.positions {
			z[j] += x[k]
		}
	case in.repeats > 0:
		kernel.Repeat(z, x, in.repeats)
	case in.period > 0:
		for n := copy(z, x); n < len(z); {
			n += copy(z[n:], z[:n])
		}
	case in.stretch > 0:
		for j := 0; j < len(z); j += in.stretch {
			copy(z[j:j+in.stretch], x[in.positions[j]:])
		}
	default:
		for j, k := range in.positions {
			z[j] = x[k]
		}
	}
}

// scatter adds each x[j] to z[positions[j]], in order. Most views sum over the first of a sample's axes.
func scatter(in *instruction, z, x []float32) {
	switch {
	case in.period > 0:
		kernel.AddEachRow(z, x)
	case in.repeats > 1:
		for k := range z {
			z[k] += kernel.Sum(x[k*in.repeats : (k+1)*in.repeats])
		}
	case in.stretch > 0:
		for j := 0; j < len(x); j += in.stretch {
			to := z[in.positions[j]:][:in.stretch]
			kernel.Add(to, to, x[j:j+in.stretch])
		}
	default:
		for j, k := range in.positions {
			z[k] += x[j]
		}
	}
}

// spread adds each x[j] to z[positions[j]]. Most views are of a bias over a vector, or over an image.
func spread(in *instruction, z, x []float32) {
	switch repeats := in.repeats; repeats {
	case 0:
		scatter(in, z, x)
	case 1:
		kernel.Add(z, z, x)
	default:
		for k := range z {
			z[k] += kernel.Sum(x[k*repeats : (k+1)*repeats])
		}
	}
}

// softmaxBack adds the gradient through a softmax, or log softmax, whose rows are z.
func (b *microbatch) softmaxBack(in *instruction, dx, dz, z []float32) {
	k := in.K
	if in.Op == compile.SoftmaxBack {
		for r := 0; r < len(z); r += k {
			dx, dz, z := dx[r:r+k], dz[r:r+k], z[r:r+k]
			dot := kernel.Dot(dz, z)
			for j := range dx {
				dx[j] += z[j] * (dz[j] - dot)
			}
		}
		return
	}
	left, total := 0, float32(0) // elements left of a row, and the sum of its gradient
	for from := 0; from < len(z); from += len(b.piece) {
		probs := b.piece[:min(len(b.piece), len(z)-from)]
		kernel.Exp(probs, z[from:][:len(probs)])
		dx, back := dx[from:][:len(probs)], dz[from:][:len(probs)]
		for j, p := range probs {
			if left == 0 {
				left, total = k, kernel.Sum(dz[from+j:][:k])
			}
			dx[j] += back[j] - p*total
			left--
		}
	}
}
