package train

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// modelOf returns the model that build makes of a graph for batches of three.
func modelOf(build func(g *enginetest.G) (output, cost *gorgonia.Node)) Model {
	g := enginetest.NewG(3, 1)
	src := must(g.Done(build(g)))
	return Model{Inputs: src.Inputs, Parameters: src.Params, Output: src.Output, Cost: src.Cost}
}

// normals returns n standard normal values.
func normals(seed uint64, n int) []float32 {
	draw, out := rand.New(rand.NewPCG(seed, 1)), make([]float32, n)
	for i := range out {
		out[i] = float32(draw.NormFloat64())
	}
	return out
}

// scoredCase is a kind of model that has neither one class nor one number for each sample.
type scoredCase struct {
	model         Model
	columns       func(seed uint64, samples int) [][]float32
	by            Measure
	before, after float64 // the score with all parameters 0, and the score after training
}

// perToken tags each of four tokens of two features with one of three classes: rows of logits, in the output as in the
// graph, [batch·tokens, classes]. With equal logits the first class is predicted, which is tag of every fourth token.
func perToken() scoredCase {
	const tokens, features, classes = 4, 2, 3
	class := func(x []float32, token int) int {
		switch {
		case token == 0:
			return 0
		case x[0] > 0:
			return 1
		}
		return 2
	}
	return scoredCase{
		model: modelOf(func(g *enginetest.G) (output, cost *gorgonia.Node) {
			x, y, w := g.In("x", tokens, features), g.In("tags", tokens, classes), g.Param("w", features, classes)
			output = g.Do(gorgonia.Mul(g.Do(gorgonia.Reshape(x, tensor.Shape{3 * tokens, features})), w))
			tags := g.Do(gorgonia.Reshape(y, tensor.Shape{3 * tokens, classes}))
			return output, g.Do(gorgonia.Neg(g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(tags, g.Do(gorgonia.LogSoftMax(output))))))))
		}),
		columns: func(seed uint64, samples int) [][]float32 {
			x, tags := normals(seed, samples*tokens*features), make([]float32, samples*tokens*classes)
			for i := range samples * tokens {
				if i%tokens == 0 { // apart from the others
					x[2*i], x[2*i+1] = 0, 5
				} else {
					x[2*i], x[2*i+1] = x[2*i]+float32(math.Copysign(1, float64(x[2*i]))), 0
				}
				tags[classes*i+class(x[2*i:], i%tokens)] = 1
			}
			return [][]float32{x, tags}
		},
		by: MeasureFunc("accuracy of tokens", func(outputs []float32, l Labels) (right float64) {
			tags := l.Columns[1].Floats
			for row := range slices.Chunk(outputs, classes) {
				right += float64(tags[Predicted(row)])
				tags = tags[classes:]
			}
			return right / float64(l.Samples*tokens)
		}),
		before: 0.25, after: 1,
	}
}

// multiLabel has three labels, each of which is the sign of a feature. At logits of 0 nothing is predicted.
func multiLabel() scoredCase {
	const labels = 3
	return scoredCase{
		model: modelOf(func(g *enginetest.G) (output, cost *gorgonia.Node) {
			x, y, w := g.In("x", labels), g.In("y", labels), g.Param("w", labels, labels)
			output = g.Do(gorgonia.Mul(x, w))
			return output, g.Do(gorgonia.Sum(g.Do(gorgonia.Sub(g.Do(gorgonia.Softplus(output)), g.Do(gorgonia.HadamardProd(y, output))))))
		}),
		columns: func(seed uint64, samples int) [][]float32 {
			x, y := normals(seed, samples*labels), make([]float32, samples*labels)
			for i, v := range x {
				x[i] += float32(math.Copysign(0.5, float64(v)))
				if v > 0 {
					y[i] = 1
				}
			}
			return [][]float32{x, y}
		},
		by: MeasureFunc("F1", func(outputs []float32, l Labels) float64 {
			var both, either float64
			for i, y := range l.Columns[1].Floats {
				predicted := float64(0)
				if outputs[i] > 0 {
					predicted = 1
				}
				both, either = both+2*predicted*float64(y), either+predicted+float64(y)
			}
			return both / either
		}),
		before: 0, after: 1,
	}
}

// ranking orders five items of a sample by two features; their relevance is the first feature less the second. It
// learns the most relevant item by a softmax over the items. Equal scores rank no pair.
func ranking() scoredCase {
	const items, features = 5, 2
	return scoredCase{
		model: modelOf(func(g *enginetest.G) (output, cost *gorgonia.Node) {
			x, best, _ := g.In("x", items, features), g.In("best", items), g.In("relevance", items)
			rows := g.Do(gorgonia.Mul(g.Do(gorgonia.Reshape(x, tensor.Shape{3 * items, features})), g.Param("w", features, 1)))
			output = g.Do(gorgonia.Reshape(rows, tensor.Shape{3, items}))
			return output, g.Do(gorgonia.Neg(g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(best, g.Do(gorgonia.LogSoftMax(output))))))))
		}),
		columns: func(seed uint64, samples int) [][]float32 {
			x, best, relevance := normals(seed, samples*items*features), make([]float32, samples*items), make([]float32, samples*items)
			for i := range relevance {
				relevance[i] = x[2*i] - x[2*i+1]
			}
			for i := range samples {
				best[i*items+Predicted(relevance[i*items:(i+1)*items])] = 1
			}
			return [][]float32{x, best, relevance}
		},
		by: MeasureFunc("ordered pairs", func(outputs []float32, l Labels) (ordered float64) {
			for i := range l.Samples {
				score, relevance := outputs[i*items:], l.Columns[2].Floats[i*items:]
				for a := range items {
					for b := range items {
						if relevance[a] > relevance[b] && score[a] > score[b] {
							ordered++
						}
					}
				}
			}
			return ordered / float64(l.Samples*items*(items-1)/2)
		}),
		before: 0, after: 0.97, // within 0.03
	}
}

// density is the normal distribution with mean m and deviation exp(s), and has no labels. Its maximum likelihood is
// known: the test set is the training data.
func density() scoredCase {
	likelihood := func(x []float32, mean, variance float64) (sum float64) {
		for _, v := range x {
			sum -= math.Log(2*math.Pi*variance)/2 + (float64(v)-mean)*(float64(v)-mean)/(2*variance)
		}
		return sum / float64(len(x))
	}
	columns := func(_ uint64, samples int) [][]float32 {
		x := normals(3, samples)
		for i := range x {
			x[i] = 0.5 + 0.75*x[i]
		}
		return [][]float32{x}
	}
	x := columns(0, 200)[0]
	mean, variance := 0.0, 0.0
	for _, v := range x {
		mean += float64(v) / 200
	}
	for _, v := range x {
		variance += (float64(v) - mean) * (float64(v) - mean) / 200
	}
	return scoredCase{
		model: modelOf(func(g *enginetest.G) (output, cost *gorgonia.Node) {
			x, m, s := g.In("x", 1), g.Param("m", 1, 1), g.Param("s", 1, 1)
			z := g.Do(gorgonia.BroadcastHadamardProd(g.Do(gorgonia.BroadcastSub(x, m, nil, []byte{0})), g.Do(gorgonia.Exp(g.Do(gorgonia.Neg(s)))), nil, []byte{0}))
			half := g.Do(gorgonia.Mul(g.Number(0.5), g.Do(gorgonia.Square(z))))
			loss := g.Do(gorgonia.Add(g.Do(gorgonia.BroadcastAdd(half, s, nil, []byte{0})), g.Number(math.Log(2*math.Pi)/2)))
			return g.Do(gorgonia.Neg(loss)), g.Do(gorgonia.Sum(loss))
		}),
		columns: columns,
		by: MeasureFunc("mean log likelihood", func(outputs []float32, l Labels) (sum float64) {
			for _, v := range outputs {
				sum += float64(v) / float64(l.Samples)
			}
			return sum
		}),
		before: likelihood(x, 0, 1), after: -math.Log(2*math.Pi*variance)/2 - 0.5,
	}
}

// Models of any output are trained and scored by their own measure, with a learning curve.
func TestModelsOfAnyOutputAreScored(t *testing.T) {
	for name, c := range map[string]scoredCase{"tokens": perToken(), "labels": multiLabel(), "ranking": ranking(), "density": density()} {
		data, test := must(NewData(200, c.columns(1, 200)...)), must(NewData(200, c.columns(2, 200)...))
		l, err := Load(cpu.New(cpu.Options{Workers: 2}), c.model, data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defer l.Close()
		set := must(NewScored(test, c.by))
		s := Settings{
			Privacy:   Privacy{SamplingRate: 1, ClippingNorm: 100, Steps: 150, NominalSize: 200},
			Optimizer: Adam(0.1), Key: InsecureKey(1),
		}
		for _, p := range l.program.Params {
			s.Initial = append(s.Initial, make([]float32, p.Size))
		}
		out := must(l.TrainAll(t.Context(), set, Run{Settings: s, Keeper: Keeper{Curve: set, Spacing: Spacing{Points: 2}}}))
		if out[0].Err != nil {
			t.Fatalf("%s: %v", name, out[0].Err)
		}
		curve, near := out[0].Curve, 1e-4
		if name == "ranking" {
			near = 0.03
		}
		if len(curve) != 3 || math.Abs(curve[0].Score-c.before) > 1e-4 || curve[2].Score != out[0].Score {
			t.Errorf("%s: the curve is %v, want it from %v to %v", name, curve, c.before, out[0].Score)
		}
		if math.Abs(out[0].Score-c.after) > near {
			t.Errorf("%s: score %v, want %v", name, out[0].Score, c.after)
		}
		if got := set.Constant(); got != -math.MaxFloat64 {
			t.Errorf("%s: constant %v", name, got)
		}
		first, other := must(l.Fingerprint(set)), must(l.Fingerprint(must(NewScored(data, c.by))))
		if first["metric"] != c.by.Name() || name != "density" && first["test data"] == other["test data"] {
			t.Errorf("%s: fingerprints %v and %v", name, first, other)
		}
	}
}

// A measure gets the number of samples of any set, and copies of the columns of NewScored's.
func TestColumnsOfAMeasure(t *testing.T) {
	var got Labels
	spoils := MeasureFunc("mine", func(outputs []float32, l Labels) float64 {
		got = Labels{l.Samples, l.Classes, slices.Clone(l.Class), slices.Clone(l.Number), copied(l.Columns...).Take()}
		for _, c := range l.Columns {
			clear(c.Floats)
			clear(c.Ints)
		}
		return 0
	})
	ids, weights := []int32{4, 5}, []float32{1, 2, 3, 4}
	set := must(NewScored(must(NewTypedData(2, Column{Ints: ids}, Column{Floats: weights})), spoils))
	before := set.Inputs().Digest()
	for range 2 {
		_ = set.score(nil)
		if got.Samples != 2 || len(got.Columns) != 2 || !slices.Equal(got.Columns[0].Ints, ids) || !slices.Equal(got.Columns[1].Floats, weights) || got.Class != nil || got.Number != nil || got.Classes != 0 {
			t.Errorf("labels of any samples: %+v", got)
		}
	}
	if digest(set.data.columns.Columns...) != before || set.Samples() != 2 || set.Metric() != "mine" {
		t.Errorf("a measure changed its set: %s of %d samples", set.Metric(), set.Samples())
	}
	_ = must(ScoredBy(threeClouds(t, 6), spoils)).score(nil)
	if got.Samples != 6 || got.Classes != 3 || len(got.Class) != 6 || len(got.Columns) != 0 {
		t.Errorf("labels of a classification: %+v", got)
	}
	_ = must(ScoredBy(must(NewRegression([]float32{1, 2}, []float32{3, 4})), spoils)).score(nil)
	if got.Samples != 2 || !slices.Equal(got.Number, []float32{3, 4}) || len(got.Columns) != 0 {
		t.Errorf("labels of a regression: %+v", got)
	}
}

func TestNewScoredRefuses(t *testing.T) {
	data, fine := threeClouds(t, 6).Data, MeasureFunc("mine", recall)
	for name, c := range map[string]struct {
		data *Data
		by   Measure
		want string
	}{
		"no data":         {nil, fine, "no samples to score"},
		"a zero value":    {&Data{}, fine, "no samples to score"},
		"no samples":      {must(NewData(0, nil, nil)), fine, "no samples to score"},
		"no measure":      {data, nil, "measure is missing"},
		"no function":     {data, MeasureFunc("mine", nil), "measure is missing"},
		"no name":         {data, MeasureFunc("", recall), "name of the measure"},
		"a built-in name": {data, MeasureFunc("accuracy", recall), "a name of its own"},
		"panics":          {data, nameless{fine}, "its name panicked: no name"},
	} {
		_, err := NewScored(c.data, c.by)
		var wrong *DataError
		var setting *SettingError
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &wrong) && !errors.As(err, &setting) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	set := must(NewScored(data, fine))
	if _, err := ScoredBy(set, fine); err == nil || !strings.Contains(err.Error(), "has a measure already") {
		t.Errorf("a set with a measure gets another: %v", err)
	}
	if _, err := NewHeldOut(set, []int32{1}, HeldOutSettings{Rate: 0.1, NoiseMultiplier: 1}); err == nil || !strings.Contains(err.Error(), "isn't known") {
		t.Errorf("it is held out: %v", err)
	}
	mute := logistic(t, rand.NewPCG(3, 4))
	mute.Output = nil
	pair := modelOf(func(g *enginetest.G) (output, cost *gorgonia.Node) {
		x, _, w := g.In("x", 2), g.In("y", 1), g.Param("w", 2, 2)
		output = g.Do(gorgonia.Mul(x, w))
		return output, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(output))))
	})
	number := must(NewRegression([]float32{1, 2, 3, 4}, []float32{5, 6}))
	for want, c := range map[string]struct {
		model Model
		set   Labelled
	}{
		"labels for one output, but the model's output has 2 values": {pair, must(ScoredBy(number, fine))},
		"name one in Model.Output":                                   {mute, set},
		"the data has 1 columns, the model 2":                        {logistic(t, rand.NewPCG(3, 4)), must(NewScored(must(NewData(1, []float32{1, 2})), fine))},
		`the model's input "y" takes 3 a sample`:                     {logistic(t, rand.NewPCG(3, 4)), must(NewScored(must(NewData(1, []float32{1, 2}, []float32{1, 2})), fine))},
	} {
		on := data
		if len(c.model.Parameters) == 1 {
			on = number.Data
		}
		l := must(Load(cpu.New(cpu.Options{Workers: 1}), c.model, on))
		var wrong *DataError
		if err := l.CheckTest(c.set); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		_ = l.Close()
	}
}
