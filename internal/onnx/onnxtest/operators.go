package onnxtest

import (
	"math"
	"slices"
)

// compute computes an operator.
func (n node) compute(in []Tensor) Tensor {
	want, known := operands[n.kind]
	if !known || len(in) != want && n.kind != "Concat" {
		fail("operator %q with %d operands", n.kind, len(in))
	}
	if of, ok := unary[n.kind]; ok {
		return in[0].each(of)
	}
	if of, ok := binary2[n.kind]; ok {
		if in[0].Type != in[1].Type {
			fail("%s of types %d and %d", n.kind, in[0].Type, in[1].Type)
		}
		out := broadcast(of, in[0], in[1])
		if slices.Contains([]string{"Less", "Greater", "Equal"}, n.kind) {
			out.Type = Bool
		}
		return out
	}
	x := in[0]
	switch n.kind {
	case "Cast":
		x.Type = int(n.attribute("to", 1)[0])
		return x
	case "IsNaN":
		if x.Type != Float && x.Type != Double {
			fail("IsNaN of type %d", x.Type)
		}
		out := x.each(func(v float64) float64 { return truth(v != v) })
		out.Type = Bool
		return out
	case "Where":
		if x.Type != Bool || in[1].Type != in[2].Type {
			fail("Where of types %d, %d and %d", x.Type, in[1].Type, in[2].Type)
		}
		of := broadcast(func(a, b float64) float64 { return 0 }, broadcast(func(a, b float64) float64 { return 0 }, x, in[1]), in[2])
		c, a, b := expand(x, of.Shape), expand(in[1], of.Shape), expand(in[2], of.Shape)
		for i := range of.Values {
			if of.Values[i] = b.Values[i]; c.Values[i] != 0 {
				of.Values[i] = a.Values[i]
			}
		}
		of.Type = a.Type
		return of
	case "Clip":
		low, high := n.scalar(in[1], x.Type), n.scalar(in[2], x.Type)
		return x.each(func(v float64) float64 {
			if v != v {
				return low // runtimes may do so
			}
			return math.Min(math.Max(v, low), high)
		})
	case "Gather":
		return n.gather(x, in[1])
	case "Unsqueeze":
		return Tensor{x.Type, slices.Insert(slices.Clone(x.Shape), n.axis(in[1], len(x.Shape)+1), 1), x.Values}
	case "Squeeze":
		axis := n.axis(in[1], len(x.Shape))
		if x.Shape[axis] != 1 {
			fail("Squeeze of axis %d of %v", axis, x.Shape)
		}
		return Tensor{x.Type, slices.Delete(slices.Clone(x.Shape), axis, axis+1), x.Values}
	case "Concat":
		return n.concat(in)
	case "Reshape":
		return n.reshape(x, in[1])
	case "Flatten":
		if n.attribute("axis", 1)[0] != 1 {
			fail("Flatten at another axis")
		}
		return Tensor{x.Type, []int{x.Shape[0], volume(x.Shape[1:])}, x.Values}
	case "Gemm":
		return n.gemm(in)
	case "Conv", "MaxPool":
		return n.windows(in)
	case "ReduceSum":
		return n.sum(x, in[1])
	case "ArgMax":
		return n.largest(x)
	case "Softmax":
		return n.softmax(x)
	}
	return x // Identity
}

// operands has the operators, and the number of their operands.
var operands = map[string]int{
	"Tanh": 1, "Sigmoid": 1, "Relu": 1, "Add": 2, "Sub": 2, "Mul": 2, "Div": 2, "Less": 2, "Greater": 2, "Equal": 2, "Or": 2,
	"Cast": 1, "IsNaN": 1, "Where": 3, "Clip": 3, "Gather": 2, "Unsqueeze": 2, "Squeeze": 2, "Reshape": 2, "Flatten": 1,
	"Concat": 0, // of any number
	"Gemm":   3, "Conv": 3, "MaxPool": 1, "ReduceSum": 2, "ArgMax": 1, "Softmax": 1, "Identity": 1,
}

var unary = map[string]func(v float64) float64{
	"Tanh":    math.Tanh,
	"Sigmoid": func(v float64) float64 { return 1 / (1 + math.Exp(-v)) },
	"Relu":    func(v float64) float64 { return math.Max(v, 0) },
}

var binary2 = map[string]func(a, b float64) float64{
	"Add":     func(a, b float64) float64 { return a + b },
	"Sub":     func(a, b float64) float64 { return a - b },
	"Mul":     func(a, b float64) float64 { return a * b },
	"Div":     func(a, b float64) float64 { return a / b },
	"Less":    func(a, b float64) float64 { return truth(a < b) },
	"Greater": func(a, b float64) float64 { return truth(a > b) },
	"Equal":   func(a, b float64) float64 { return truth(a == b) },
	"Or":      func(a, b float64) float64 { return truth(a != 0 || b != 0) },
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (t Tensor) each(of func(v float64) float64) Tensor {
	out := Tensor{t.Type, t.Shape, make([]float64, len(t.Values))}
	for i, v := range t.Values {
		out.Values[i] = of(v)
	}
	return out
}

// attribute returns an attribute of some integers.
func (n node) attribute(name string, count int) []int64 {
	values := n.attributes[name]
	if len(values) != count {
		fail("%s has the attribute %s: %v", n.kind, name, values)
	}
	return values
}

func (n node) scalar(t Tensor, of int) float64 {
	if len(t.Shape) != 0 || t.Type != of {
		fail("%s takes a single number of type %d, got %v of %d", n.kind, of, t.Shape, t.Type)
	}
	return t.Values[0]
}

// axis returns an axis that an operand gives, from 0.
func (n node) axis(t Tensor, axes int) int {
	if t.Type != Int64 || len(t.Values) != 1 || len(t.Shape) != 1 || t.Values[0] < 0 || int(t.Values[0]) >= axes {
		fail("%s of axes %v", n.kind, t.Values)
	}
	return int(t.Values[0])
}

// expand repeats t along axes of length 1, by NumPy's rules.
func expand(t Tensor, shape []int) Tensor {
	own := append(slices.Repeat([]int{1}, len(shape)-len(t.Shape)), t.Shape...)
	out := Tensor{t.Type, shape, make([]float64, volume(shape))}
	for i := range out.Values {
		at, rest, stride := 0, i, 1
		for axis := len(shape) - 1; axis >= 0; axis-- {
			if own[axis] != 1 {
				at += rest % shape[axis] * stride
			}
			rest /= shape[axis]
			stride *= own[axis]
		}
		out.Values[i] = t.Values[at]
	}
	return out
}

func broadcast(of func(a, b float64) float64, a, b Tensor) Tensor {
	axes := max(len(a.Shape), len(b.Shape))
	shape := make([]int, axes)
	for i := range axes {
		da, db := 1, 1
		if k := i - axes + len(a.Shape); k >= 0 {
			da = a.Shape[k]
		}
		if k := i - axes + len(b.Shape); k >= 0 {
			db = b.Shape[k]
		}
		if da != db && da != 1 && db != 1 {
			fail("shapes %v and %v", a.Shape, b.Shape)
		}
		if shape[i] = da; da == 1 { // an axis may have no element at all
			shape[i] = db
		}
	}
	left, right := expand(a, shape), expand(b, shape)
	for i := range left.Values {
		left.Values[i] = of(left.Values[i], right.Values[i])
	}
	return left
}

// gather gathers along axis 0. A negative position counts from the end.
func (n node) gather(x, at Tensor) Tensor {
	if n.attribute("axis", 1)[0] != 0 || at.Type != Int64 {
		fail("Gather by type %d", at.Type)
	}
	out := Tensor{x.Type, slices.Concat(at.Shape, x.Shape[1:]), nil}
	size := volume(x.Shape[1:])
	for _, v := range at.Values {
		i := int(v)
		if i < 0 {
			i += x.Shape[0]
		}
		if i < 0 || i >= x.Shape[0] {
			fail("position %v isn't in a list of %d", v, x.Shape[0])
		}
		out.Values = append(out.Values, x.Values[i*size:(i+1)*size]...)
	}
	return out
}

func (n node) concat(in []Tensor) Tensor {
	axis := int(n.attribute("axis", 1)[0])
	out := Tensor{in[0].Type, slices.Clone(in[0].Shape), nil}
	out.Shape[axis] = 0
	for _, t := range in {
		out.Shape[axis] += t.Shape[axis]
		if t.Type != out.Type || !slices.Equal(t.Shape[:axis], out.Shape[:axis]) || !slices.Equal(t.Shape[axis+1:], out.Shape[axis+1:]) {
			fail("Concat of %v with %v", t.Shape, in[0].Shape)
		}
	}
	for outer := range volume(out.Shape[:axis]) {
		for _, t := range in {
			size := volume(t.Shape[axis:])
			out.Values = append(out.Values, t.Values[outer*size:(outer+1)*size]...)
		}
	}
	return out
}

func (n node) reshape(x, to Tensor) Tensor {
	out, free, known := Tensor{x.Type, nil, x.Values}, -1, 1
	for i, v := range to.Values {
		out.Shape = append(out.Shape, int(v))
		if v == -1 {
			free = i
		} else {
			known *= int(v)
		}
	}
	if free >= 0 && known > 0 {
		out.Shape[free] = len(x.Values) / known
	}
	if to.Type != Int64 || volume(out.Shape) != len(x.Values) {
		fail("Reshape of %v to %v", x.Shape, to.Values)
	}
	return out
}

// gemm computes a times the transpose of b, plus c.
func (n node) gemm(in []Tensor) Tensor {
	a, b, c := in[0], in[1], in[2]
	if n.attribute("transB", 1)[0] != 1 || len(a.Shape) != 2 || len(b.Shape) != 2 || len(c.Shape) != 1 || a.Shape[1] != b.Shape[1] || b.Shape[0] != c.Shape[0] {
		fail("Gemm of %v, %v and %v", a.Shape, b.Shape, c.Shape)
	}
	out := Tensor{a.Type, []int{a.Shape[0], b.Shape[0]}, nil}
	for i := range a.Shape[0] {
		for k := range b.Shape[0] {
			sum := c.Values[k]
			for j := range a.Shape[1] {
				sum += a.Values[i*a.Shape[1]+j] * b.Values[k*a.Shape[1]+j]
			}
			out.Values = append(out.Values, sum)
		}
	}
	return out
}

// windows computes a convolution, or the maximum of each window.
func (n node) windows(in []Tensor) Tensor {
	x, kernel, strides, pads := in[0], n.attribute("kernel_shape", 2), n.attribute("strides", 2), []int64{0, 0, 0, 0}
	channels := x.Shape[1]
	if n.kind == "Conv" {
		pads, channels = n.attribute("pads", 4), in[1].Shape[0]
		if !slices.Equal(in[1].Shape, []int{channels, x.Shape[1], int(kernel[0]), int(kernel[1])}) || !slices.Equal(in[2].Shape, []int{channels}) {
			fail("Conv of %v and %v", in[1].Shape, in[2].Shape)
		}
	}
	height, width := int(int64(x.Shape[2])+pads[0]+pads[2]-kernel[0])/int(strides[0])+1, int(int64(x.Shape[3])+pads[1]+pads[3]-kernel[1])/int(strides[1])+1
	out := Tensor{x.Type, []int{x.Shape[0], channels, height, width}, nil}
	for i := range volume(out.Shape) {
		column, row, channel, image := i%width, i/width%height, i/width/height%channels, i/width/height/channels
		sum, largest := 0.0, math.Inf(-1)
		for c := range x.Shape[1] {
			for a := range int(kernel[0]) {
				for b := range int(kernel[1]) {
					top, left := row*int(strides[0])+a-int(pads[0]), column*int(strides[1])+b-int(pads[1])
					if top < 0 || left < 0 || top >= x.Shape[2] || left >= x.Shape[3] {
						continue
					}
					v := x.Values[((image*x.Shape[1]+c)*x.Shape[2]+top)*x.Shape[3]+left]
					if n.kind == "Conv" {
						sum += v * in[1].Values[((channel*x.Shape[1]+c)*int(kernel[0])+a)*int(kernel[1])+b]
					} else if c == channel {
						largest = math.Max(largest, v)
					}
				}
			}
		}
		if n.kind == "Conv" {
			out.Values = append(out.Values, sum+in[2].Values[channel])
		} else {
			out.Values = append(out.Values, largest)
		}
	}
	return out
}

func (n node) sum(x, axes Tensor) Tensor {
	axis := n.axis(axes, len(x.Shape))
	inner := volume(x.Shape[axis+1:])
	out := Tensor{x.Type, slices.Clone(x.Shape), nil}
	out.Shape[axis] = 1
	for o := range volume(x.Shape[:axis]) {
		for i := range inner {
			sum := 0.0
			for k := range x.Shape[axis] {
				sum += x.Values[(o*x.Shape[axis]+k)*inner+i]
			}
			out.Values = append(out.Values, sum)
		}
	}
	if n.attribute("keepdims", 1)[0] == 0 {
		out.Shape = slices.Delete(out.Shape, axis, axis+1)
	}
	return out
}

func (n node) largest(x Tensor) Tensor {
	if n.attribute("axis", 1)[0] != 1 || n.attribute("keepdims", 1)[0] != 0 || len(x.Shape) != 2 {
		fail("ArgMax of %v", x.Shape)
	}
	out := Tensor{Int64, x.Shape[:1], nil}
	for row := range slices.Chunk(x.Values, x.Shape[1]) {
		best := 0
		for k, v := range row {
			if v > row[best] {
				best = k
			}
		}
		out.Values = append(out.Values, float64(best))
	}
	return out
}

func (n node) softmax(x Tensor) Tensor {
	if n.attribute("axis", 1)[0] != 1 || len(x.Shape) != 2 {
		fail("Softmax of %v", x.Shape)
	}
	out := Tensor{x.Type, x.Shape, nil}
	for row := range slices.Chunk(x.Values, x.Shape[1]) {
		largest, sum := slices.Max(row), 0.0
		for _, v := range row {
			sum += math.Exp(v - largest)
		}
		for _, v := range row {
			out.Values = append(out.Values, math.Exp(v-largest)/sum)
		}
	}
	return out
}
