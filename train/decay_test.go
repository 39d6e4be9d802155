package train

import (
	"errors"
	"math"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// valley is a graph for a batch of four with the parameter θ = 2, in which sample x costs (θ - x)²/2.
type valley struct {
	graph    *gorgonia.ExprGraph
	x, theta *gorgonia.Node
	costs    *gorgonia.Node // of the samples
	squares  *gorgonia.Node // θ²/4, whose gradient is 1
}

func newValley() valley {
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("x"), gorgonia.WithShape(4, 1))
	w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("w"), gorgonia.WithShape(1, 1),
		gorgonia.WithValue(tensor.New(tensor.WithShape(1, 1), tensor.WithBacking([]float32{2}))))
	v := valley{graph: g, x: x, theta: w}
	v.costs = times(0.5, gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.BroadcastSub(w, x, []byte{0}, nil)))))
	v.squares = times(0.25, v.square())
	return v
}

func (v valley) square() *gorgonia.Node { return sumOf(gorgonia.Must(gorgonia.Square(v.theta))) }

// batch returns the length of the batch axis.
func (v valley) batch() *gorgonia.Node { return gorgonia.Must(gorgonia.SizeOf(0, v.x)) }

func number32(v float32) *gorgonia.Node { return gorgonia.NewConstant(v) }

func times(by float32, n *gorgonia.Node) *gorgonia.Node {
	return gorgonia.Must(gorgonia.Mul(number32(by), n))
}
func plus(a, b *gorgonia.Node) *gorgonia.Node  { return gorgonia.Must(gorgonia.Add(a, b)) }
func minus(a, b *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Sub(a, b)) }
func over(a, b *gorgonia.Node) *gorgonia.Node  { return gorgonia.Must(gorgonia.Div(a, b)) }
func negative(a *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Neg(a)) }
func sumOf(a *gorgonia.Node) *gorgonia.Node    { return gorgonia.Must(gorgonia.Sum(a)) }
func meanOf(a *gorgonia.Node) *gorgonia.Node   { return gorgonia.Must(gorgonia.Mean(a)) }

// Samples 1 and 0 have gradients 1 and 2, the decay has 1, and the expected size of a batch is 5. So a step of SGD at
// rate 1 without noise moves θ by (3+1)/5 if the decay is added to the sum, and by 3/5+1 if it is added to the mean,
// for any form of the graph and any batch size.
func TestDecayOfTheCost(t *testing.T) {
	const ofSum, ofMean = (3. + 1) / 5, 3./5 + 1
	for name, c := range map[string]struct {
		want float64
		cost func(v valley) *gorgonia.Node
	}{
		"sum":           {ofSum, func(v valley) *gorgonia.Node { return plus(sumOf(v.costs), v.squares) }},
		"sum, swapped":  {ofSum, func(v valley) *gorgonia.Node { return plus(v.squares, sumOf(v.costs)) }},
		"mean":          {ofMean, func(v valley) *gorgonia.Node { return plus(meanOf(v.costs), v.squares) }},
		"mean, swapped": {ofMean, func(v valley) *gorgonia.Node { return plus(v.squares, meanOf(v.costs)) }},
		"divided":       {ofSum, func(v valley) *gorgonia.Node { return over(plus(sumOf(v.costs), v.squares), v.batch()) }},
		"divided, tripled": {3 * ofSum, func(v valley) *gorgonia.Node {
			return times(3, over(plus(sumOf(v.costs), v.squares), v.batch()))
		}},
		"tripled":        {3 * ofMean, func(v valley) *gorgonia.Node { return times(3, plus(meanOf(v.costs), v.squares)) }},
		"a third":        {ofMean / 3, func(v valley) *gorgonia.Node { return over(plus(meanOf(v.costs), v.squares), number32(3)) }},
		"taken off":      {ofMean, func(v valley) *gorgonia.Node { return minus(meanOf(v.costs), times(-0.25, v.square())) }},
		"negative":       {ofMean, func(v valley) *gorgonia.Node { return negative(minus(negative(meanOf(v.costs)), v.squares)) }},
		"less its sum":   {ofSum, func(v valley) *gorgonia.Node { return minus(v.squares, negative(sumOf(v.costs))) }},
		"a quarter":      {ofSum, func(v valley) *gorgonia.Node { return plus(sumOf(v.costs), over(v.square(), number32(4))) }},
		"negative decay": {3./5 - 1, func(v valley) *gorgonia.Node { return minus(meanOf(v.costs), v.squares) }},
		"twice": {(3. + 2) / 5, func(v valley) *gorgonia.Node {
			return plus(plus(sumOf(v.costs), v.squares), times(0.25, v.square()))
		}},
		"added up": {3./5 + 2, func(v valley) *gorgonia.Node {
			return plus(meanOf(v.costs), plus(v.squares, v.squares))
		}},
		"a product": {ofMean, func(v valley) *gorgonia.Node {
			return plus(meanOf(v.costs), times(0.25, sumOf(gorgonia.Must(gorgonia.HadamardProd(v.theta, v.theta)))))
		}},
		"half of a mean": {3./5/2 + 1, func(v valley) *gorgonia.Node {
			return plus(over(sumOf(v.costs), gorgonia.Must(gorgonia.Mul(number32(2), v.batch()))), v.squares)
		}},
		"half of all": {ofSum / 2, func(v valley) *gorgonia.Node {
			return over(plus(sumOf(v.costs), v.squares), gorgonia.Must(gorgonia.Mul(number32(2), v.batch())))
		}},
		"in the samples' costs": {(3. + 2) / 5, func(v valley) *gorgonia.Node {
			return sumOf(gorgonia.Must(gorgonia.BroadcastAdd(v.costs, gorgonia.Must(gorgonia.Reshape(v.squares, tensor.Shape{1, 1})), nil, []byte{0})))
		}},
		"to both": {math.NaN(), func(v valley) *gorgonia.Node {
			return plus(over(plus(sumOf(v.costs), v.squares), v.batch()), times(0.25, v.square()))
		}},
		"of a mean, divided": {math.NaN(), func(v valley) *gorgonia.Node { return over(plus(meanOf(v.costs), v.squares), v.batch()) }},
		"alone":              {math.NaN(), func(v valley) *gorgonia.Node { return v.squares }},
		"over the batch": {math.NaN(), func(v valley) *gorgonia.Node {
			_, repeated, err := gorgonia.Broadcast(v.costs, gorgonia.Must(gorgonia.Reshape(v.squares, tensor.Shape{1, 1})), gorgonia.NewBroadcastPattern(nil, []byte{0}))
			if err != nil {
				t.Fatal(err)
			}
			return sumOf(plus(sumOf(v.costs), repeated))
		}},
	} {
		v := newValley()
		model := Model{Inputs: gorgonia.Nodes{v.x}, Parameters: gorgonia.Nodes{v.theta}, Cost: c.cost(v)}
		trainer, err := New(cpu.New(cpu.Options{Workers: 1}), model, must(NewData(2, []float32{1, 0})), Settings{
			Privacy:   Privacy{SamplingRate: 1, ClippingNorm: 100, Steps: 1, NominalSize: 5},
			Optimizer: SGD(1), Key: InsecureKey(1),
		})
		if err != nil {
			if !math.IsNaN(c.want) || !errors.Is(err, ErrGraph) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		result := must(trainer.Train(t.Context(), nil))
		if got := 2 - float64(result.Parameters[0].Values[0]); !(math.Abs(got-c.want) < 1e-4) {
			t.Errorf("%s: moves by %v, want %v", name, got, c.want)
		}
		_ = trainer.Close()
	}
}

// Decay isn't clipped, and doesn't change the clipping of gradients: the samples' gradients are cut to norm 1/2, the
// decay is whole.
func TestDecayIsNotClipped(t *testing.T) {
	v := newValley()
	model := Model{Inputs: gorgonia.Nodes{v.x}, Parameters: gorgonia.Nodes{v.theta}, Cost: plus(sumOf(v.costs), times(100, v.squares))}
	trainer, err := New(cpu.New(cpu.Options{Workers: 1}), model, must(NewData(2, []float32{1, 0})), Settings{
		Privacy:   Privacy{SamplingRate: 1, ClippingNorm: 0.5, Steps: 1, NominalSize: 5},
		Optimizer: SGD(1), Key: InsecureKey(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	result := must(trainer.Train(t.Context(), nil))
	if got := 2 - float64(result.Parameters[0].Values[0]); math.Abs(got-(0.5+0.5+100)/5) > 1e-4 {
		t.Errorf("moves by %v, want %v", got, 101./5)
	}
}
