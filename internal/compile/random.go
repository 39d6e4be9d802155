package compile

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// dropout lowers dropout. A sample's draws come from the run's key, the step and the sample's number. The prediction
// has no dropout.
func dropout(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v, f := in[0], graph.FieldsOf(n.Op())
	p := f.Float("probability")
	switch {
	case v.class != batched:
		return traced{}, refuse(n, sameForAll, "it on values of samples")
	case !(p >= 0 && p < 1):
		return traced{}, refuse(n, fmt.Sprintf("it drops with probability %v", p), "a probability from 0 to below 1")
	case p == 0 || !f.Bool("isTraining"):
		return v, nil
	}
	out := v
	out.divided = false
	out.id = t.draw(n, v.shape, Instruction{Op: Dropout, In: []ID{v.id}, Scalar: float32(1 - p)})
	return out, nil
}

// draw emits an instruction that draws.
func (t *tracer) draw(n *gorgonia.Node, shape []int, in Instruction) ID {
	in.Draw = t.prog.Draws
	t.prog.Draws += (in.Drawn(product(shape)) + DrawsMultiple - 1) / DrawsMultiple * DrawsMultiple
	return t.emit(n, shape, in)
}

// random lowers a random node, whose draws are those of dropout. The prediction has the mean in their place.
func random(t *tracer, n *gorgonia.Node, _ []traced) (traced, error) {
	f := graph.FieldsOf(n.Op())
	a, b, shape := f.Float("a"), f.Float("b"), graph.Shape(n)
	op, scale := Normals, b
	switch f.Int("which") {
	case uniform:
		op, scale = Uniforms, b-a
	case binomial:
		return traced{}, refuse(n, "it draws from a binomial law", "models.UniformRandomNode and Lt, which is 1 where a number is below a probability")
	}
	switch {
	case len(shape) == 0 || shape[0] != t.batch:
		return traced{}, refuse(n, "its first axis isn't the batch", "one with the batch as its first axis, and Reshape for several rows of a sample")
	case n.Dtype() != tensor.Float32 && n.Dtype() != tensor.Float64:
		return traced{}, refuse(n, fmt.Sprintf("its numbers are of type %v", n.Dtype()), "one of type Float32")
	case !(math.Abs(a) <= math.MaxFloat32 && scale >= 0 && scale <= math.MaxFloat32):
		return traced{}, refuse(n, fmt.Sprintf("its numbers are %v and %v", a, b), "a mean and a deviation from 0, or two ends in ascending order, whose difference single precision holds too")
	}
	out := traced{class: batched, shape: shape[1:]}
	out.id = t.draw(n, out.shape, Instruction{Op: op})
	for _, x := range []struct {
		by      Func
		scalar  float64
		neutral float64
	}{{Mul, scale, 1}, {Add, a, 0}} {
		if x.scalar != x.neutral {
			out.id = t.emit(n, out.shape, Instruction{Op: BinaryScalar, Func: x.by, In: []ID{out.id}, Scalar: float32(x.scalar)})
		}
	}
	return out, nil
}

// Gorgonia's numbers of the laws that random nodes draw from, besides the normal one.
const uniform, binomial = 0, 2

// named reports whether a random node had a name when Gorgonia added it to its graph. Its hash, by which Gorgonia
// (v0.9.18) finds equal nodes, has its type, its shape and its name, and not its law.
func named(n *gorgonia.Node) bool {
	h := fnv.New32a()
	fmt.Fprintf(h, "%v%v\x00", n.Type(), n.Shape())
	return n.Hashcode() != h.Sum32()
}

// undrawn returns the instructions of a prediction, which draws nothing, and its output: dropout drops nothing, and
// random numbers are at their means.
func (t *tracer) undrawn(code []Instruction, output ID) ([]Instruction, ID) {
	kept := map[ID]ID{}
	same := func(id ID) ID {
		if from, ok := kept[id]; ok {
			return from
		}
		return id
	}
	var out []Instruction
	for _, in := range code {
		in.In = slices.Clone(in.In)
		for k, id := range in.In {
			in.In[k] = same(id)
		}
		switch in.Op {
		case Dropout:
			kept[in.Out] = in.In[0]
			continue
		case Normals, Uniforms:
			mean := t.value(Value{Name: "mean", Kind: Const, Shape: []int{1}, Data: []float32{0.5 * float32(in.Op-Normals)}})
			shape := t.prog.Values[in.Out].Shape
			in = Instruction{Op: Gather, In: []ID{mean}, Out: in.Out, Where: None, View: View{0, shape, make([]int, len(shape))}}
		}
		out = append(out, in)
	}
	return out, same(output)
}
