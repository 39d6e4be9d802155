package models_test

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The graphs of golden.json, and the tests of their layers. builder_test.go tests the builder.

// A build adds a graph to a builder.
type build func(b *models.Builder) (output, cost *G.Node)

// squared closes a graph with the squares of its output as the cost.
func squared(output func(b *models.Builder) *G.Node) build {
	return func(b *models.Builder) (*G.Node, *G.Node) {
		out := output(b)
		return out, b.Do(G.Sum(b.Do(G.Square(out))))
	}
}

// The shapes of testdata/golden.py.
const tokens, inputs, width, heads, vocabulary = 4, 2, 4, 2, 5

func attention(o models.AttentionOptions, padded bool) build {
	return squared(func(b *models.Builder) *G.Node {
		x, o := b.Input("x", tokens, width), o
		if padded {
			o.Mask = b.Input("mask", tokens)
		}
		return b.Attention("attention", x, heads, o)
	})
}

// classified closes a linear layer of x with its cross-entropy.
func classified(classes, mask func(b *models.Builder) *G.Node) build {
	return func(b *models.Builder) (*G.Node, *G.Node) {
		logits := b.Linear("linear", b.Input("x", tokens, width), 3)
		return logits, b.CrossEntropy(logits, classes(b), mask(b))
	}
}

func integers(b *models.Builder) *G.Node      { return b.Integers("classes", tokens) }
func probabilities(b *models.Builder) *G.Node { return b.Input("classes", tokens, 3) }
func mask(b *models.Builder) *G.Node          { return b.Input("mask", tokens) }
func without(*models.Builder) *G.Node         { return nil }

// block is a transformer block, with the names and the order of PyTorch's TransformerEncoderLayer.
func block(b *models.Builder, name string, x *G.Node, inner int, o models.AttentionOptions) *G.Node {
	x = b.Add(x, b.Attention(name+".self_attn", b.LayerNorm(name+".norm1", x), heads, o))
	h := b.Do(G.Rectify(b.Linear(name+".linear1", b.LayerNorm(name+".norm2", x), inner)))
	return b.Add(x, b.Linear(name+".linear2", h, x.Shape()[2]))
}

// layers are the graphs of testdata/golden.py.
var layers = map[string]build{
	"lstm":         squared(func(b *models.Builder) *G.Node { return b.LSTM("lstm", b.Input("x", tokens, inputs), width-1, nil) }),
	"gru":          squared(func(b *models.Builder) *G.Node { return b.GRU("gru", b.Input("x", tokens, inputs), width-1, nil) }),
	"lstm, padded": squared(func(b *models.Builder) *G.Node { return b.LSTM("lstm", b.Input("x", tokens, inputs), width-1, mask(b)) }),
	"gru, padded":  squared(func(b *models.Builder) *G.Node { return b.GRU("gru", b.Input("x", tokens, inputs), width-1, mask(b)) }),

	"attention":                    attention(models.AttentionOptions{}, false),
	"attention, causal":            attention(models.AttentionOptions{Causal: true}, false),
	"attention, padded":            attention(models.AttentionOptions{}, true),
	"attention, causal and padded": attention(models.AttentionOptions{Causal: true}, true),

	"layer norm": squared(func(b *models.Builder) *G.Node { return b.LayerNorm("norm", b.Input("x", tokens, width)) }),
	"embedding": squared(func(b *models.Builder) *G.Node {
		return b.Embedding("embedding", b.Integers("ids", tokens), vocabulary, 2)
	}),
	"block": squared(func(b *models.Builder) *G.Node {
		return block(b, "block", b.Input("x", tokens, width), 3*width/2, models.AttentionOptions{})
	}),

	"cross-entropy":                  classified(integers, without),
	"cross-entropy, padded":          classified(integers, mask),
	"cross-entropy of probabilities": classified(probabilities, without),
}

// built returns a model with a batch of one and of three, which compiles.
func built(t *testing.T, f build) (one, three train.Model) {
	t.Helper()
	one, err := models.Build(1, f)
	if err != nil {
		t.Fatal(err)
	}
	if three, err = models.Build(3, f); err != nil {
		t.Fatal(err)
	}
	if _, err := compile.Compile(source(one)); err != nil {
		t.Fatal(err)
	}
	return one, three
}

// data returns samples, each with a row for each input, for the inputs of a model.
func data(m train.Model, samples ...[][]float32) *engine.Data {
	d := &engine.Data{Samples: len(samples)}
	for k, in := range m.Inputs {
		var c engine.Column
		for _, row := range samples {
			for _, v := range row[k] {
				if in.Dtype() == tensor.Int {
					c.Ints = append(c.Ints, int32(v))
				} else {
					c.Floats = append(c.Floats, v)
				}
			}
		}
		d.Columns = append(d.Columns, c)
	}
	return d
}

// stepped returns the gradient of one sample's cost by all parameters that the engine computes: the negative of a step
// with a learning rate of one, without noise, and with a clipping norm above the gradient's.
func stepped(t *testing.T, m train.Model, parameters [][]float32, row [][]float32, norm float64) []float32 {
	t.Helper()
	p, err := compile.Compile(source(m))
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := cpu.New(cpu.Options{}).Load(p, data(m, row))
	if err != nil {
		t.Fatal(err)
	}
	layout := engine.LayoutOf(p)
	at := layout.Join(parameters)
	runs, err := loaded.Start(engine.Job{
		Mechanism: engine.Mechanism{SamplingProbability: 1, ClippingNorm: norm, ExpectedBatchSize: 1},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1},
		Initial:   at,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := runs.Steps(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	for i, v := range runs.State(0).Params {
		at[i] -= v
	}
	return slices.Concat(layout.Split(at)...)
}

// predicted returns the engine's outputs of samples.
func predicted(t *testing.T, m train.Model, parameters [][]float32, samples ...[][]float32) []float32 {
	t.Helper()
	d := data(m, samples...)
	columns, err := train.NewTypedData(d.Samples, d.Columns...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := train.NewPredictor(cpu.New(cpu.Options{}), m, parameters)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out, err := p.Predict(context.Background(), columns)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func norm[T float32 | float64](x []T) float64 {
	squares := 0.0
	for _, v := range x {
		squares += float64(v) * float64(v)
	}
	return math.Sqrt(squares)
}

// off returns the largest difference of numbers, relative to the largest of them and one.
func off[A, B float32 | float64](got []A, want []B) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	scale, most := 1.0, 0.0
	for i, w := range want {
		scale = max(scale, math.Abs(float64(w)))
		most = max(most, math.Abs(float64(got[i])-float64(w)))
	}
	return most / scale
}

// golden is a graph of testdata/golden.json: see the README there.
type golden struct {
	Name       string
	Parameters []struct {
		Name   string
		Values []float32
	}
	Inputs    [][][]float32 // by sample and input
	Outputs   [][]float32   // by sample
	Gradients [][][]float32 // by sample and parameter
}

// Outputs and gradients of single samples are those of PyTorch's layers, by the engine and by Gorgonia.
func TestLayersArePyTorchs(t *testing.T) {
	file, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []golden
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != len(layers) {
		t.Errorf("%d layers of PyTorch's, and %d of dptrain's", len(all), len(layers))
	}
	for _, g := range all {
		t.Run(g.Name, func(t *testing.T) { g.check(t, layers[g.Name]) })
	}
}

func (g golden) check(t *testing.T, f build) {
	const tolerance = 3e-6
	one, three := built(t, f)
	costs := strings.HasPrefix(g.Name, "cross-entropy")
	src := source(one)
	if costs {
		src.Output = src.Cost
	}
	ref, err := enginetest.NewReference(src)
	if err != nil {
		t.Fatal(err)
	}
	at := make([][]float32, len(one.Parameters))
	order := make([]int, len(one.Parameters)) // of PyTorch's parameters, in the graph
	for k, p := range g.Parameters {
		i := slices.IndexFunc(one.Parameters, func(n *G.Node) bool { return n.Name() == p.Name })
		if i < 0 || len(p.Values) != one.Parameters[i].Shape().TotalSize() {
			t.Fatalf("parameter %s is missing, or isn't of %d values", p.Name, len(p.Values))
		}
		at[i], order[k] = p.Values, i
	}
	if slices.ContainsFunc(at, func(v []float32) bool { return v == nil }) {
		t.Fatal("PyTorch has no value for a parameter")
	}
	for i, row := range g.Inputs {
		out, err := ref.Output(at, row)
		if err != nil {
			t.Fatal(err)
		}
		if by := off(out, g.Outputs[i]); !(by <= tolerance) {
			t.Errorf("sample %d: the output is off by %v", i, by)
		}
		gradient, err := ref.Gradient(at, row)
		if err != nil {
			t.Fatal(err)
		}
		want := make([][]float32, len(at))
		for k, p := range g.Parameters {
			want[order[k]] = g.Gradients[i][k]
			if by := off(gradient[order[k]], g.Gradients[i][k]); !(by <= tolerance) {
				t.Errorf("sample %d: the gradient of %s is off by %v", i, p.Name, by)
			}
		}
		all := slices.Concat(want...)
		if by := off(stepped(t, three, at, row, 1.25*norm(all)), all); !(by <= tolerance) {
			t.Errorf("sample %d: the engine's gradient is off by %v", i, by)
		}
	}
	if costs {
		return
	}
	if by := off(predicted(t, three, at, g.Inputs...), slices.Concat(g.Outputs...)); !(by <= tolerance) {
		t.Errorf("the engine's outputs are off by %v", by)
	}
}

// drawn returns values for the parameters of a model, and samples for its inputs. Integers are below 3, and masks keep
// about half of the tokens.
func drawn(m train.Model, samples int, seed uint64) (parameters [][]float32, rows [][][]float32) {
	r := rand.New(rand.NewPCG(seed, 0))
	fill := func(n *G.Node, size int) []float32 {
		out := make([]float32, size)
		for i := range out {
			switch {
			case n.Dtype() == tensor.Int:
				out[i] = float32(r.IntN(3))
			case n.Name() == "mask":
				out[i] = float32(r.IntN(2))
			default:
				out[i] = float32(r.NormFloat64() / 2)
			}
		}
		return out
	}
	for _, p := range m.Parameters {
		parameters = append(parameters, fill(p, p.Shape().TotalSize()))
	}
	for range samples {
		var row [][]float32
		for _, in := range m.Inputs {
			row = append(row, fill(in, in.Shape().TotalSize()/in.Shape()[0]))
		}
		rows = append(rows, row)
	}
	return parameters, rows
}

// small are graphs with axes of length one.
var small = map[string]build{
	"one step": squared(func(b *models.Builder) *G.Node {
		return b.GRU("gru", b.LSTM("lstm", b.Input("x", 1, 2), 3, nil), 2, b.Input("mask", 1))
	}),
	"width of one": squared(func(b *models.Builder) *G.Node {
		return b.GRU("gru", b.LSTM("lstm", b.Input("x", 3, 1), 1, b.Input("mask", 3)), 1, nil)
	}),
	"one token": squared(func(b *models.Builder) *G.Node {
		return b.Attention("attention", b.Input("x", 1, 2), 2, models.AttentionOptions{Causal: true, Mask: b.Input("mask", 1)})
	}),
	"one head of width one": squared(func(b *models.Builder) *G.Node {
		return b.Attention("attention", b.Input("x", 3, 1), 1, models.AttentionOptions{Causal: true})
	}),
	"one position": func(b *models.Builder) (*G.Node, *G.Node) {
		logits := b.Linear("linear", b.LayerNorm("norm", b.Input("x", 3)), 3)
		return logits, b.CrossEntropy(logits, b.Integers("class"), b.Input("mask"))
	},
}

// The engine's gradients are the slopes of the cost, by central differences of Gorgonia's cost along random directions.
func TestLayersSlopes(t *testing.T) {
	all := maps.Clone(layers)
	maps.Copy(all, small)
	for name, f := range all {
		t.Run(name, func(t *testing.T) {
			one, three := built(t, f)
			src := source(one)
			src.Output = src.Cost
			ref, err := enginetest.NewReference(src)
			if err != nil {
				t.Fatal(err)
			}
			at, rows := drawn(one, 4, 5)
			r := rand.New(rand.NewPCG(6, 7))
			for _, row := range rows {
				gradient := stepped(t, three, at, row, 1e5)
				gradient = stepped(t, three, at, row, 1e-3+1.25*norm(gradient))
				var direction [][]float32
				slope, k := 0.0, 0
				for _, p := range at {
					d := make([]float32, len(p))
					for i := range d {
						d[i] = float32(r.NormFloat64())
						slope += float64(d[i]) * float64(gradient[k])
						k++
					}
					direction = append(direction, d)
				}
				cost := func(move float32) float64 {
					moved := make([][]float32, len(at))
					for i, p := range at {
						for j, v := range p {
							moved[i] = append(moved[i], v+move*direction[i][j])
						}
					}
					out, err := ref.Output(moved, row)
					if err != nil {
						t.Fatal(err)
					}
					return float64(out[0])
				}
				const h = 1. / 128
				want := (8*(cost(h)-cost(-h)) - (cost(2*h) - cost(-2*h))) / (12 * h)
				if !(math.Abs(slope-want) <= 2e-3*(norm(gradient)+0.1)) {
					t.Errorf("the slope is %v, by differences %v", slope, want)
				}
			}
		})
	}
}

// language is a graph over x [length, width], its classes and its mask, with layers of every kind that reads a mask.
func language(length int, causal bool) build {
	return func(b *models.Builder) (*G.Node, *G.Node) {
		x, classes, mask := b.Input("x", length, width), b.Integers("classes", length), b.Input("mask", length)
		x = block(b, "block", x, 5, models.AttentionOptions{Causal: causal, Mask: mask})
		x = b.GRU("gru", b.LSTM("lstm", x, 3, mask), width, mask)
		x = block(b, "second", x, 3, models.AttentionOptions{Causal: causal, Mask: mask})
		logits := b.Linear("out", x, 3)
		return logits, b.CrossEntropy(logits, classes, mask)
	}
}

// Padding after a text changes neither the outputs of its tokens nor the gradient, whatever the padding holds.
func TestPaddingChangesNothing(t *testing.T) {
	for _, causal := range []bool{false, true} {
		_, short := built(t, language(4, causal))
		_, long := built(t, language(7, causal))
		parameters, rows := drawn(long, 5, 1)
		for _, row := range rows {
			copy(row[2], []float32{1, 1, 1, 1, 0, 0, 0})
			cut := [][]float32{row[0][:4*width], row[1][:4], row[2][:4]}
			want, got := predicted(t, short, parameters, cut), predicted(t, long, parameters, row)
			if by := off(got[:len(want)], want); !(by <= 1e-6) {
				t.Errorf("causal %v: padding changes outputs by %v", causal, by)
			}
			gradient := stepped(t, short, parameters, cut, 20)
			if by := off(stepped(t, long, parameters, row, 20), gradient); !(by <= 2e-5) || norm(gradient) < 0.1 {
				t.Errorf("causal %v: padding changes the gradient by %v", causal, by)
			}
		}
	}
}

// Recurrent layers skip padding before and between the steps of a text.
func TestPaddingIsSkipped(t *testing.T) {
	recurrent := func(steps int) build {
		return squared(func(b *models.Builder) *G.Node {
			x, mask := b.Input("x", steps, width), b.Input("mask", steps)
			return b.GRU("gru", b.LSTM("lstm", x, 3, mask), width, mask)
		})
	}
	_, short := built(t, recurrent(3))
	_, long := built(t, recurrent(6))
	parameters, rows := drawn(long, 4, 9)
	for _, row := range rows {
		row[1] = []float32{0, 1, 1, 0, 0, 1}
		cut := [][]float32{slices.Concat(row[0][width:3*width], row[0][5*width:]), {1, 1, 1}}
		want, got := predicted(t, short, parameters, cut), predicted(t, long, parameters, row)
		at := slices.Concat(make([]float32, width), want[:2*width], want[width:2*width], want[width:2*width], want[2*width:])
		if by := off(got, at); !(by <= 1e-6) {
			t.Errorf("padding changes outputs by %v", by)
		}
	}
}

// Gorgonia takes slices whose bounds differ by 256 for one. In layers with more columns each step's input still reaches
// the last state, and queries, keys and values differ.
func TestWideLayersSliceApart(t *testing.T) {
	const steps, wide = 20, 64
	for name, layer := range map[string]func(b *models.Builder, x *G.Node) *G.Node{
		"lstm": func(b *models.Builder, x *G.Node) *G.Node { return b.LSTM("l", x, wide, nil) },
		"gru":  func(b *models.Builder, x *G.Node) *G.Node { return b.GRU("l", x, wide, nil) },
	} {
		_, m := built(t, squared(func(b *models.Builder) *G.Node { return layer(b, b.Input("x", steps, inputs)) }))
		parameters, rows := drawn(m, 1, 10)
		for i := range steps {
			other := slices.Clone(rows[0][0])
			other[i*inputs] += 4
			out := predicted(t, m, parameters, rows[0], [][]float32{other})
			if n := len(out) / 2; slices.Equal(out[n-wide:n], out[2*n-wide:]) {
				t.Errorf("%s: the input of step %d doesn't reach the last state", name, i)
			}
		}
	}

	const columns = 256
	_, m := built(t, squared(func(b *models.Builder) *G.Node {
		return b.Attention("a", b.Input("x", tokens, columns), heads, models.AttentionOptions{})
	}))
	parameters, rows := drawn(m, 1, 11)
	before := predicted(t, m, parameters, rows[0])
	for k, name := range []string{"queries", "keys", "values"} {
		changed := slices.Clone(parameters)
		changed[0] = slices.Clone(parameters[0])
		for row := range columns {
			clear(changed[0][row*3*columns+k*columns:][:columns])
		}
		if slices.Equal(before, predicted(t, m, changed, rows[0])) {
			t.Errorf("the %s change nothing", name)
		}
	}
}

// Outputs of a causal graph don't depend on later tokens, whatever the mask says of them and of earlier ones. The
// outputs of other graphs do.
func TestCausalLooksBack(t *testing.T) {
	const length, logits = 5, 3
	for _, causal := range []bool{false, true} {
		_, m := built(t, language(length, causal))
		parameters, rows := drawn(m, 20, 2)
		rows[0][2] = []float32{0, 0, 1, 1, 1} // no token for the first two to attend to
		changes := false
		for _, row := range rows {
			variants := [][][]float32{row}
			for first := 1; first < length; first++ {
				x, mask := slices.Clone(row[0]), slices.Clone(row[2])
				for i := first * width; i < length*width; i++ {
					x[i]++
				}
				mask[length-1] = 1 - mask[length-1]
				variants = append(variants, [][]float32{x, row[1], mask})
			}
			out := predicted(t, m, parameters, variants...)
			for first := 1; first < length; first++ {
				changes = changes || !slices.Equal(out[first*length*logits:][:first*logits], out[:first*logits])
			}
		}
		if changes == causal {
			t.Errorf("causal %v: later tokens change earlier outputs: %v", causal, changes)
		}
	}
}

// A sample of padding alone has finite outputs, and neither a cost nor a gradient. Attention yields its bias.
func TestPaddingAlone(t *testing.T) {
	for _, causal := range []bool{false, true} {
		_, m := built(t, language(4, causal))
		parameters, rows := drawn(m, 1, 3)
		clear(rows[0][2])
		if out := predicted(t, m, parameters, rows[0]); !(norm(out) < 100) {
			t.Errorf("causal %v: outputs %v", causal, out)
		}
		if g := stepped(t, m, parameters, rows[0], 1); norm(g) != 0 {
			t.Errorf("causal %v: a gradient of norm %v", causal, norm(g))
		}
		_, m = built(t, attention(models.AttentionOptions{Causal: causal}, true))
		parameters, rows = drawn(m, 1, 4)
		clear(rows[0][1])
		if out := predicted(t, m, parameters, rows[0]); !slices.Equal(out, slices.Repeat(parameters[3], tokens)) {
			t.Errorf("causal %v: outputs %v, want the bias %v", causal, out, parameters[3])
		}
	}
}

// A weight in the mask of the cross-entropy counts as that many positions.
func TestCrossEntropyWeighs(t *testing.T) {
	_, m := built(t, layers["cross-entropy, padded"])
	parameters, rows := drawn(m, 1, 6)
	row := rows[0]
	copy(row[0][2*width:], row[0][width:2*width])
	row[1][2] = row[1][1]
	row[2] = []float32{0.5, 0.5, 0.5, 0}
	apart := stepped(t, m, parameters, row, 10)
	row[2] = []float32{1, 2, 0, 0}
	if by := off(stepped(t, m, parameters, row, 10), apart); !(by <= 1e-5) || norm(apart) < 0.1 {
		t.Errorf("the gradients are %v apart", by)
	}
}

// The block of the builder is the block spelled in Gorgonia alone.
func TestBlockIsPlainGorgonia(t *testing.T) {
	const batch, inner = 3, 6
	of, err := models.Build(batch, func(b *models.Builder) (*G.Node, *G.Node) {
		out := block(b, "block", b.Input("x", tokens, width), inner, models.AttentionOptions{Causal: true})
		return out, b.Do(G.Sum(b.Do(G.Square(out))))
	})
	if err != nil {
		t.Fatal(err)
	}
	g, m := G.NewGraph(), train.Model{}
	node := func(name string, shape ...int) *G.Node {
		return G.NewTensor(g, tensor.Float32, len(shape), G.WithShape(shape...), G.WithName(name))
	}
	parameter := func(name string, shape ...int) *G.Node {
		m.Parameters = append(m.Parameters, node(name, shape...))
		return m.Parameters[len(m.Parameters)-1]
	}
	dense := func(x *G.Node, name string, in, out int) *G.Node {
		y := G.Must(G.Mul(x, parameter(name+" weight", in, out)))
		return G.Must(G.BroadcastAdd(y, parameter(name+" bias", 1, out), nil, []byte{0}))
	}
	column := func(x *G.Node) *G.Node { return G.Must(G.Reshape(x, tensor.Shape{batch * tokens, 1})) }
	layerNorm := func(x *G.Node, name string) *G.Node {
		d := G.Must(G.BroadcastSub(x, column(G.Must(G.Mean(x, 1))), nil, []byte{1}))
		v := G.Must(G.Add(G.Must(G.Mean(G.Must(G.Square(d)), 1)), G.NewConstant(float32(1e-5))))
		z := G.Must(G.BroadcastHadamardDiv(d, column(G.Must(G.Sqrt(v))), nil, []byte{1}))
		z = G.Must(G.BroadcastHadamardProd(z, parameter(name+" weight", 1, width), nil, []byte{0}))
		return G.Must(G.BroadcastAdd(z, parameter(name+" bias", 1, width), nil, []byte{0}))
	}
	later := make([]float32, tokens*tokens)
	for i := range tokens {
		for j := i + 1; j < tokens; j++ {
			later[i*tokens+j] = -1e8
		}
	}
	future := g.AddNode(G.NewConstant(tensor.New(tensor.WithShape(1, tokens, tokens), tensor.WithBacking(later))))

	in := node("x", batch, tokens, width)
	x := G.Must(G.Reshape(in, tensor.Shape{batch * tokens, width}))
	all := dense(layerNorm(x, "norm1"), "in", width, 3*width)
	var mixed []*G.Node
	for head := range heads {
		of := func(k int) *G.Node {
			from := k*width + head*width/heads
			return G.Must(G.Reshape(G.Must(G.Slice(all, nil, G.S(from, from+width/heads))), tensor.Shape{batch, tokens, width / heads}))
		}
		scores := G.Must(G.BatchedMatMul(of(0), of(1), false, true))
		scores = G.Must(G.Div(scores, G.NewConstant(float32(math.Sqrt(width/heads)))))
		scores = G.Must(G.BroadcastAdd(scores, future, nil, []byte{0}))
		mixed = append(mixed, G.Must(G.BatchedMatMul(G.Must(G.SoftMax(scores)), of(2))))
	}
	joined := G.Must(G.Reshape(G.Must(G.Concat(2, mixed...)), tensor.Shape{batch * tokens, width}))
	x = G.Must(G.Add(x, dense(joined, "out", width, width)))
	h := G.Must(G.Rectify(dense(layerNorm(x, "norm2"), "up", width, inner)))
	x = G.Must(G.Add(x, dense(h, "down", inner, width)))
	m.Inputs, m.Output = G.Nodes{in}, G.Must(G.Reshape(x, tensor.Shape{batch, tokens, width}))
	m.Cost = G.Must(G.Sum(G.Must(G.Square(x))))

	parameters, rows := drawn(of, 4, 8)
	if by := off(predicted(t, of, parameters, rows...), predicted(t, m, parameters, rows...)); !(by <= 1e-6) {
		t.Errorf("outputs are %v apart", by)
	}
	for _, row := range rows {
		want := stepped(t, m, parameters, row, 3000)
		clip := 1.25 * norm(want)
		if by := off(stepped(t, of, parameters, row, clip), stepped(t, m, parameters, row, clip)); !(by <= 1e-5) {
			t.Errorf("gradients are %v apart", by)
		}
	}
}
