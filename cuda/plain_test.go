package cuda

import (
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// plain computes the values of a program for one sample in double precision, by the operations' definitions
// (compile.Op). It is the oracle of kernels that no other engine's code stands behind.
type plain struct {
	p      *compile.Program
	job    engine.Job
	step   int
	sample int // its number in the data
	values [][]float64
}

// plainly computes a sample's values: by its prediction, or by its cost and gradient in a step of a job.
func plainly(p *compile.Program, data *engine.Data, job engine.Job, step, sample int, predict bool) [][]float64 {
	c := &plain{p: p, job: job, step: step, sample: sample, values: make([][]float64, len(p.Values))}
	wide := func(v []float32) (out []float64) {
		for _, x := range v {
			out = append(out, float64(x))
		}
		return out
	}
	l := engine.LayoutOf(p)
	for id, v := range p.Values {
		switch v.Kind {
		case compile.Input:
			if v.Type == compile.Int32 {
				for _, x := range data.Columns[v.Index].Ints[sample*v.Size:][:v.Size] {
					c.values[id] = append(c.values[id], float64(x))
				}
				continue
			}
			c.values[id] = wide(data.Columns[v.Index].Floats[sample*v.Size:][:v.Size])
		case compile.Param:
			c.values[id] = wide(job.Initial[l.Offsets[v.Index]:][:v.Size])
		case compile.Const:
			c.values[id] = wide(v.Data)
		}
	}
	lists := [][]compile.Instruction{p.Prepare, p.Forward, p.Backward}
	if predict {
		lists = [][]compile.Instruction{p.Prepare, p.Predict}
	}
	for _, in := range slices.Concat(lists...) {
		c.execute(in)
	}
	return c.values
}

// value returns a value, through its view if it has one.
func (c *plain) value(id compile.ID) []float64 {
	v := c.p.Values[id]
	if v.Kind != compile.Shared {
		return c.values[id]
	}
	var out []float64
	for _, at := range v.View.Elements() {
		out = append(out, c.values[v.Source][at])
	}
	return out
}

func (c *plain) execute(in compile.Instruction) {
	out := make([]float64, c.p.Values[in.Out].Size)
	if in.Accumulate {
		copy(out, c.values[in.Out])
	}
	var x [][]float64
	for _, id := range in.In {
		if id == compile.None {
			x = append(x, nil)
			continue
		}
		x = append(x, c.value(id))
	}
	switch in.Op {
	case compile.Fill:
		for j := range out {
			out[j] = float64(in.Scalar)
		}
	case compile.Unary:
		for j := range out {
			out[j] = in.Func.Unary(x[0][j])
		}
	case compile.Binary:
		for j := range out {
			out[j] = in.Func.Binary(x[0][j], x[1][j])
		}
	case compile.BinaryScalar:
		for j := range out {
			if in.Swap {
				out[j] = in.Func.Binary(float64(in.Scalar), x[0][j])
			} else {
				out[j] = in.Func.Binary(x[0][j], float64(in.Scalar))
			}
		}
	case compile.BinaryBack:
		for j := range out {
			out[j] += x[0][j] * in.Func.BinaryDerivative(in.Side, x[1][j], x[2][j], x[3][j])
		}
	case compile.ScalarBack:
		for j := range out {
			a, b, side := x[1][j], float64(in.Scalar), 0
			if in.Swap {
				a, b, side = b, a, 1
			}
			out[j] += x[0][j] * in.Func.BinaryDerivative(side, a, b, x[2][j])
		}
	case compile.Gather:
		for j, at := range in.View.Elements() {
			out[j] += x[0][at]
		}
	case compile.Scatter, compile.GradSpread:
		for j, at := range in.View.Elements() {
			out[at] += x[0][j]
		}
	case compile.Product:
		c.product(in, out, x[0], x[1])
	case compile.MatMul, compile.MatMulBack:
		back := in.Op == compile.MatMulBack
		rows, k, n, transposed := in.Rows, in.K, in.N, in.TransB
		if back {
			k, n, transposed = n, k, !transposed
		}
		c.product(compile.Instruction{Groups: 1, Rows: rows, K: k, N: n, TransB: transposed}, out, x[0], x[1])
	case compile.Conv:
		w := in.Window
		for o := range w.OutC {
			for y := range w.OutH {
				for z := range w.OutW {
					for e := range w.C * w.KH * w.KW {
						ch, i, j := e/(w.KH*w.KW), e/w.KW%w.KH, e%w.KW
						row, column := y*w.StrideH+i*w.DilationH-w.PadH, z*w.StrideW+j*w.DilationW-w.PadW
						if row >= 0 && row < w.H && column >= 0 && column < w.W {
							out[(o*w.OutH+y)*w.OutW+z] += x[1][o*w.C*w.KH*w.KW+e] * x[0][(ch*w.H+row)*w.W+column]
						}
					}
				}
			}
		}
	case compile.Lookup:
		for r := range in.Rows {
			copy(out[r*in.K:(r+1)*in.K], x[1][int(x[0][r])*in.K:])
		}
	case compile.Softmax:
		for r := range in.Rows {
			sum := 0.0
			for j := range in.K {
				out[r*in.K+j] = math.Exp(x[0][r*in.K+j])
				sum += out[r*in.K+j]
			}
			for j := range in.K {
				out[r*in.K+j] /= sum
			}
		}
	case compile.Normalize, compile.NormalizeBack:
		of := x[0]
		if in.Op == compile.NormalizeBack {
			of = x[1]
		}
		for r := range in.Rows {
			z, deviation := normalized(of[r*in.K:(r+1)*in.K], float64(in.Scalar))
			if in.Op == compile.Normalize {
				copy(out[r*in.K:], z)
				continue
			}
			dz, sum, products := x[0][r*in.K:(r+1)*in.K], 0.0, 0.0
			for j, d := range dz {
				sum += d
				products += d * z[j]
			}
			for j, d := range dz {
				out[r*in.K+j] += (d - sum/float64(in.K) - z[j]*products/float64(in.K)) / deviation
			}
		}
	case compile.Dropout:
		s := c.job.Dropout(c.step, c.p.Draws, c.sample)
		var halves []uint32
		for len(halves) < in.Draw+len(out) {
			w := s.Uint64()
			halves = append(halves, uint32(w), uint32(w>>32))
		}
		for j := range out {
			if uint64(halves[in.Draw+j]) < engine.KeepBelow(in.Scalar) {
				out[j] += x[0][j] / float64(in.Scalar)
			}
		}
	default:
		panic(fmt.Sprintf("no definition of %v here", in.Op))
	}
	c.values[in.Out] = out
}

// normalized returns a row without its mean over its deviation, and the deviation.
func normalized(x []float64, more float64) (z []float64, deviation float64) {
	mean, variance := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	deviation = math.Sqrt(variance + more)
	for _, v := range x {
		z = append(z, (v-mean)/deviation)
	}
	return z, deviation
}

// product adds products of matrices to out.
func (c *plain) product(in compile.Instruction, out, x, y []float64) {
	for g := range in.Groups {
		for m := range in.Rows {
			for n := range in.N {
				for k := range in.K {
					a, b := m*in.K+k, k*in.N+n
					if in.TransA {
						a = k*in.Rows + m
					}
					if in.TransB {
						b = n*in.K + k
					}
					out[(g*in.Rows+m)*in.N+n] += x[g*in.Rows*in.K+a] * y[g*in.K*in.N+b]
				}
			}
		}
	}
}
