package enginetest

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/compile"
)

// result computes what an instruction writes, or adds. It returns new memory.
func (n *interpreter) result(in *compile.Instruction) []float64 {
	operands := map[int][]float64{}
	x := func(k int) []float64 {
		if operands[k] == nil {
			operands[k] = n.floats(in.In[k])
		}
		return operands[k]
	}
	size := n.program.Values[in.Out].Size
	switch in.Op {
	case compile.Unary:
		return each(size, func(j int) float64 { return unaryOf(in.Func, x(0)[j]) })
	case compile.Binary:
		return each(size, func(j int) float64 { return binaryOf(in.Func, x(0)[j], x(1)[j]) })
	case compile.BinaryScalar:
		return each(size, func(j int) float64 { a, b := scalarOf(in, x(0)[j]); return binaryOf(in.Func, a, b) })
	case compile.Fill:
		return each(size, func(int) float64 { return float64(in.Scalar) })
	case compile.UnaryBack:
		if _, ok := slopeByValue(in.Func, 1); ok { // x may be another value then, which isn't read
			return each(size, func(j int) float64 { slope, _ := slopeByValue(in.Func, x(2)[j]); return x(0)[j] * slope })
		}
		return each(size, func(j int) float64 { return x(0)[j] * unarySlope(in.Func, x(1)[j]) })
	case compile.BinaryBack:
		return each(size, func(j int) float64 { return x(0)[j] * binarySlope(in.Func, in.Side, x(1)[j], x(2)[j]) })
	case compile.ScalarBack:
		return each(size, func(j int) float64 {
			a, b := scalarOf(in, x(1)[j])
			side := 0
			if in.Swap {
				side = 1
			}
			return x(0)[j] * binarySlope(in.Func, side, a, b)
		})
	case compile.Gather:
		at, from := positionsOf(in.View), x(0)
		return each(size, func(j int) float64 { return from[at[j]] })
	case compile.Scatter, compile.GradSpread:
		z, from := make([]float64, size), x(0)
		for j, at := range positionsOf(in.View) {
			z[at] += from[j]
		}
		return z
	case compile.Dropout:
		from := x(0)
		return each(size, func(j int) float64 {
			if !n.kept(in.Draw+j, in.Scalar) {
				return 0
			}
			return from[j] / float64(in.Scalar)
		})
	case compile.MatMul:
		return matrices(x(0), x(1), 1, in.Rows, in.K, in.N, false, in.TransB)
	case compile.MatMulBack:
		return matrices(x(0), x(1), 1, in.Rows, in.N, in.K, false, !in.TransB)
	case compile.Product:
		return matrices(x(0), x(1), in.Groups, in.Rows, in.K, in.N, in.TransA, in.TransB)
	case compile.GradMatMul:
		return outerProduct(x(1), x(0), in.Rows, in.K, in.N, in.TransB)
	case compile.Lookup:
		var z []float64
		for _, id := range n.integers(in.In[0]) {
			z = append(z, x(1)[int(id)*in.K:int(id+1)*in.K]...)
		}
		return z
	case compile.GradLookup:
		return addedRows(x(0), n.integers(in.In[1]), in.N, in.K)
	case compile.Softmax, compile.LogSoftmax, compile.Normalize:
		return byRows(in, x(0), nil)
	case compile.SoftmaxBack, compile.LogSoftmaxBack, compile.NormalizeBack:
		return byRows(in, x(0), x(1))
	case compile.Conv:
		return convolved(x(0), x(1), in.Window)
	case compile.ConvBack:
		return convolvedBack(x(0), x(1), in.Window)
	case compile.GradConv:
		return filterGradient(x(0), x(1), in.Window)
	case compile.MaxPool:
		z, where := pooled(x(0), in.Window)
		n.where[in.Where] = where
		return z
	case compile.MaxPoolBack:
		z := make([]float64, size)
		for j, at := range n.where[in.In[1]] {
			z[at] += x(0)[j]
		}
		return z
	}
	panic(fmt.Sprintf("the interpreter doesn't know %v", in.Op))
}

func each(size int, f func(j int) float64) []float64 {
	z := make([]float64, size)
	for j := range z {
		z[j] = f(j)
	}
	return z
}

// scalarOf returns the operands of a function of an element and the instruction's number, in their order.
func scalarOf(in *compile.Instruction, x float64) (a, b float64) {
	if in.Swap {
		return float64(in.Scalar), x
	}
	return x, float64(in.Scalar)
}

// matrices returns x[g]·y[g] for each group: x is rows×k, or its transpose k×rows is given; y likewise k×n.
func matrices(x, y []float64, groups, rows, k, n int, transA, transB bool) []float64 {
	var z []float64
	for g := range groups {
		x, y := x[g*rows*k:], y[g*k*n:]
		for i := range rows {
			for j := range n {
				sum := 0.0
				for l := range k {
					a, b := x[i*k+l], y[l*n+j]
					if transA {
						a = x[l*rows+i]
					}
					if transB {
						b = y[j*k+l]
					}
					sum += a * b
				}
				z = append(z, sum)
			}
		}
	}
	return z
}

// outerProduct returns Σ_r x[r]ᵀ·d[r] as k×n, or as n×k if transposed.
func outerProduct(x, d []float64, rows, k, n int, transposed bool) []float64 {
	z := make([]float64, k*n)
	for r := range rows {
		for i := range k {
			for j := range n {
				at := i*n + j
				if transposed {
					at = j*k + i
				}
				z[at] += x[r*k+i] * d[r*n+j]
			}
		}
	}
	return z
}

// addedRows returns a table of rows×k to whose rows those of d are added, by index.
func addedRows(d []float64, ids []int32, rows, k int) []float64 {
	z := make([]float64, rows*k)
	for r, id := range ids {
		for c := range k {
			z[int(id)*k+c] += d[r*k+c]
		}
	}
	return z
}

// byRows computes an operation on the rows of x, or of the gradient d and a second operand b.
func byRows(in *compile.Instruction, d, b []float64) []float64 {
	var z []float64
	for r := range in.Rows {
		row, other := d[r*in.K:(r+1)*in.K], []float64(nil)
		if b != nil {
			other = b[r*in.K : (r+1)*in.K]
		}
		z = append(z, ofRow(in, row, other)...)
	}
	return z
}

func ofRow(in *compile.Instruction, d, b []float64) []float64 {
	k := len(d)
	mean := func(f func(j int) float64) float64 {
		sum := 0.0
		for j := range k {
			sum += f(j)
		}
		return sum / float64(k)
	}
	switch in.Op {
	case compile.Softmax, compile.LogSoftmax:
		top := math.Inf(-1)
		for _, v := range d {
			top = math.Max(top, v)
		}
		total := float64(k) * mean(func(j int) float64 { return math.Exp(d[j] - top) })
		if in.Op == compile.LogSoftmax {
			return each(k, func(j int) float64 { return d[j] - top - math.Log(total) })
		}
		return each(k, func(j int) float64 { return math.Exp(d[j]-top) / total })
	case compile.SoftmaxBack:
		sum := float64(k) * mean(func(j int) float64 { return d[j] * b[j] })
		return each(k, func(j int) float64 { return b[j] * (d[j] - sum) })
	case compile.LogSoftmaxBack:
		sum := float64(k) * mean(func(j int) float64 { return d[j] })
		return each(k, func(j int) float64 { return d[j] - math.Exp(b[j])*sum })
	}
	x := d
	if in.Op == compile.NormalizeBack {
		x = b
	}
	center := mean(func(j int) float64 { return x[j] })
	deviation := math.Sqrt(mean(func(j int) float64 { return (x[j] - center) * (x[j] - center) }) + float64(in.Scalar))
	z := each(k, func(j int) float64 { return (x[j] - center) / deviation })
	if in.Op == compile.Normalize {
		return z
	}
	plain := mean(func(j int) float64 { return d[j] })
	along := mean(func(j int) float64 { return d[j] * z[j] })
	return each(k, func(j int) float64 { return (d[j] - plain - z[j]*along) / deviation })
}
