package enginetest

import (
	"fmt"
	"hash"
	"hash/fnv"

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
	draws *[]float64
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
		if (*d.draws)[d.first+i] < keep {
			x[i] /= keep
		} else {
			x[i] = 0
		}
	}
	return valueLike(n, v.Dtype(), x), nil
}

// Draw makes the gradients that follow drop what a program's step drops for a sample. Draw d is half of word
// (sample·draws + d)/2 of the step's stream, the low half if d is even, as a share of 2³².
func (r *Reference) Draw(p *compile.Program, j engine.Job, step, sample int) {
	s := j.Key.Stream(random.ID{Purpose: random.Dropout, Trial: j.Trial, Step: uint32(step)})
	s.Seek(uint64(sample) * uint64(p.Draws) / 2)
	r.draws = []float64{}
	for range p.Draws / 2 {
		word := s.Uint64()
		r.draws = append(r.draws, float64(uint32(word))/(1<<32), float64(word>>32)/(1<<32))
	}
}
