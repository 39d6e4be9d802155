package enginetest

import (
	"fmt"
	"hash"
	"hash/fnv"
	"math"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/graph"
	"github.com/dptrain/dptrain/internal/random"
	"gorgonia.org/gorgonia"
)

// dropped replaces Gorgonia's Dropout in a copied graph, whose draws are of Gorgonia's own. It is its own way back.
type dropped struct {
	gorgonia.Op
	first int // draw, of the sample's
	draws *[]uint32
}

// DiffWRT and SymDiff make dropped differentiable.
func (d dropped) DiffWRT(int) []bool { return []bool{true} }

func (d dropped) SymDiff(inputs gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	x := inputs[0]
	back := gorgonia.NewUniqueNode(gorgonia.WithType(x.Type()), gorgonia.WithOp(d), gorgonia.WithChildren(gorgonia.Nodes{grad}),
		gorgonia.In(x.Graph()), gorgonia.WithShape(x.Shape()...))
	return gorgonia.Nodes{back}, nil
}

// WriteHash, Hashcode and String tell it from other dropouts, which Gorgonia's don't: two of them may have one operand.
func (d dropped) WriteHash(h hash.Hash) { fmt.Fprint(h, d) }

func (d dropped) Hashcode() uint32 {
	h := fnv.New32a()
	d.WriteHash(h)
	return h.Sum32()
}

func (d dropped) String() string { return fmt.Sprintf("dropped by draws from %d on", d.first) }

// apply drops elements, or none where there are no draws.
func (d dropped) apply(n *gorgonia.Node, v gorgonia.Value) (gorgonia.Value, error) {
	if *d.draws == nil {
		return v, nil
	}
	x, err := graph.Doubles(v)
	if err != nil {
		return nil, err
	}
	keep := float64(float32(1 - graph.FieldsOf(d.Op).Float("probability")))
	for i := range x {
		if float64((*d.draws)[d.first+i])/(1<<32) < keep {
			x[i] /= keep
		} else {
			x[i] = 0
		}
	}
	return valueLike(n, v.Dtype(), x), nil
}

// Draw makes the gradients that follow drop and draw what a program's step does for a sample.
func (r *Reference) Draw(p *compile.Program, j engine.Job, step, sample int) {
	r.draws = drawsOf(p, j, step, sample)
}

// drawsOf returns the draws of a sample. Draw d is half of word (sample·draws + d)/2 of the step's stream, the low half
// if d is even.
func drawsOf(p *compile.Program, j engine.Job, step, sample int) []uint32 {
	s := j.Key.Stream(random.ID{Purpose: random.GraphDraws, Trial: j.Trial, Step: uint32(step)})
	s.Seek(uint64(sample) * uint64(p.Draws) / 2)
	draws := []uint32{}
	for range p.Draws / 2 {
		word := s.Uint64()
		draws = append(draws, uint32(word), uint32(word>>32))
	}
	return draws
}

// Gorgonia's numbers of the laws that random nodes draw from.
const uniform, normal = 0, 1

// randomNode is a copied random node, and its first draw.
type randomNode struct {
	copy  *gorgonia.Node
	op    graph.Fields
	first int
}

// numbers returns the node's numbers by a sample's draws, or by none its means. They are rounded to single precision
// after each of three operations, as engines do it: the standard number, times its scale, and the first number added.
func (n randomNode) numbers(draws []uint32) []float32 {
	out := make([]float32, n.copy.Shape().TotalSize())
	a, b, law := n.op.Float("a"), n.op.Float("b"), n.op.Int("which")
	word := func(i int) float64 {
		return float64(uint64(draws[n.first+2*i])|uint64(draws[n.first+2*i+1])<<32) / (1 << 64)
	}
	for i := range out {
		z, scale := 0.0, b
		switch {
		case law == uniform && draws == nil:
			z, scale = 0.5, b-a
		case law == uniform:
			z, scale = float64(draws[n.first+i]>>8)/(1<<24), b-a
		case draws != nil:
			radius, angle := math.Sqrt(-2*math.Log(word(i&^1)+0x1p-65)), 2*math.Pi*word(i|1)
			z = radius * math.Cos(angle-math.Pi/2*float64(i%2)) // a sine for odd i
		}
		out[i] = float32(float32(float32(z)*float32(scale)) + float32(a))
	}
	return out
}
