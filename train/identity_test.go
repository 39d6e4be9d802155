package train

import (
	"context"
	html "html/template"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	text "text/template"

	"github.com/dptrain/dptrain/cpu"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// runKey returns the key of a run's streams.
func runKey(t *testing.T, model Model, data *Data, s Settings) Key {
	t.Helper()
	e := &fakeEngine{}
	if _, err := New(e, model, data, s); err != nil {
		t.Fatal(err)
	}
	return e.job.Key
}

// Runs that share key and trial but differ in anything else draw from different streams; equal runs draw from the same
// streams.
func TestRunsThatDifferDrawOtherNoise(t *testing.T) {
	model := func() Model { return logistic(t, rand.NewPCG(3, 4)) }
	data := threeClouds(t, 60).Data
	own := runKey(t, model(), data, settings())
	if again := runKey(t, model(), threeClouds(t, 60).Data, settings()); again != own {
		t.Error("the same run draws from other streams")
	}
	if own == settings().Key {
		t.Error("the run draws from the key that it was given")
	}
	seen := map[Key]string{own: "the run itself"}
	check := func(name string, key Key) {
		t.Helper()
		if other, twice := seen[key]; twice {
			t.Errorf("%s draws from the streams of %s", name, other)
		}
		seen[key] = name
	}
	for name, change := range otherRuns {
		s := settings()
		change(&s)
		check(name, runKey(t, model(), data, s))
	}

	all := settings() // all of them, by name
	for i := range int32(60) {
		all.Members = append(all.Members, i)
	}
	all.Members = all.Members[:59]
	check("one member less", runKey(t, model(), data, all))

	columns := [][]float32{slices.Clone(data.columns.Columns[0].Floats), slices.Clone(data.columns.Columns[1].Floats)}
	columns[0][17] = math.Nextafter32(columns[0][17], 9)
	changed, err := NewData(60, columns...)
	if err != nil {
		t.Fatal(err)
	}
	check("a sample's last bit", runKey(t, model(), changed, settings()))
	fewer, err := NewData(59, columns[0][:59*2], columns[1][:59*3])
	if err != nil {
		t.Fatal(err)
	}
	check("one sample less", runKey(t, model(), fewer, settings()))

	e := &fakeEngine{arithmetic: "another"}
	if _, err := New(e, model(), data, settings()); err != nil {
		t.Fatal(err)
	}
	check("another engine's arithmetic", e.job.Key)

	check("other initial values", runKey(t, logistic(t, rand.NewPCG(5, 6)), data, settings()))
	doubled := model()
	doubled.Cost = gorgonia.Must(gorgonia.Mul(doubled.Cost, gorgonia.NewConstant(float32(2))))
	check("twice the cost", runKey(t, doubled, data, settings()))
	tripled := model()
	tripled.Cost = gorgonia.Must(gorgonia.Mul(tripled.Cost, gorgonia.NewConstant(float32(3))))
	check("three times the cost", runKey(t, tripled, data, settings()))
}

// Groups, and rules of one's own, find parameters by their names, of which a model's digest has none.
func TestRunsOfOtherNamesDrawOtherNoise(t *testing.T) {
	named := func(names ...string) Model {
		g := gorgonia.NewGraph()
		m := Model{Inputs: gorgonia.Nodes{
			gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("x"), gorgonia.WithShape(4, 2)),
			gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("y"), gorgonia.WithShape(4, 3)),
		}}
		left := m.Inputs[1]
		for _, name := range names {
			w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName(name), gorgonia.WithShape(2, 3), gorgonia.WithInit(gorgonia.Zeroes()))
			m.Parameters = append(m.Parameters, w)
			left = gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Sub(left, gorgonia.Must(gorgonia.Mul(m.Inputs[0], w))))))
		}
		m.Cost = gorgonia.Must(gorgonia.Sum(left))
		return m
	}
	for name, c := range map[string]struct {
		optimizer Optimizer
		byName    bool
	}{
		"no groups": {SGD(0.1), false}, "a rule": {OptimizerOf(unnamed{0.9}, 0.1), true},
		"groups": {Optimizer{Method: SGD(0.1).Method, LearningRate: 0.1, Groups: []ParameterGroup{{Parameters: []string{"v"}, LearningRate: 0.5}}}, true},
	} {
		s := settings()
		s.Optimizer = c.optimizer
		data := threeClouds(t, 60).Data
		if other := runKey(t, named("v", "w"), data, s) != runKey(t, named("w", "v"), data, s); other != c.byName {
			t.Errorf("%s: other noise: %v, want %v", name, other, c.byName)
		}
	}
}

// The careless loop: models with and without one sample, all other things and the key equal. Shared noise would cancel,
// and leave the sample's clipped gradient.
func TestNoiseDoesNotCancel(t *testing.T) {
	s := cpuSettings(SGD(1))
	s.Privacy.Steps, s.Privacy.SamplingRate, s.Privacy.NoiseMultiplier = 1, 1, 1e4
	train := func(members []int32) []float32 {
		s.Members = members
		trainer, err := New(cpu.New(cpu.Options{Workers: 1}), logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data, s)
		if err != nil {
			t.Fatal(err)
		}
		defer trainer.Close()
		result, err := trainer.Train(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Concat(result.Parameters[0].Values, result.Parameters[1].Values)
	}
	var members []int32
	for i := range int32(60) {
		members = append(members, i)
	}
	with, without := train(members), train(members[1:])
	square := 0.0
	for i := range with {
		square += math.Pow(float64(with[i]-without[i]), 2)
	}
	// Each of the nine differences is Gaussian with deviation sqrt(2)·1e4/600; a gradient's norm is at most 1/600. The
	// sum of nine squares is that small with probability below 1e-13.
	if noise := 1e4 / 600.0; math.Sqrt(square) < 0.1*noise {
		t.Errorf("the models differ by %v, where one release's noise alone is %v: it cancelled", math.Sqrt(square), noise)
	}
}

// States, which are written to disk, must not hold the key that their run draws from.
func TestStateDoesNotHoldTheKey(t *testing.T) {
	trainer, e := start(t, settings())
	if state := must(trainer.State()); state.run == e.job.Key || state.run == settings().Key {
		t.Error("a state holds the key of the run's noise")
	}
}

// A list that changes afterwards has no effect on the run.
func TestLaterChangesDoNotReachTheRun(t *testing.T) {
	s := settings()
	s.Members, s.Optimizer.Groups = []int32{0, 1}, twoGroups()[1:]
	trainer, e := start(t, s)
	s.Members[1], s.Optimizer.Groups[0].LearningRate = 3, 7
	if e.job.Members[1] != 1 || trainer.group.settings[0].Optimizer.Groups[0].LearningRate != 2 {
		t.Error("the run's members or groups changed with the caller's slices")
	}
}

// Rules differ if only the packages of their types differ, or the types of values in interfaces.
func TestRulesOfOtherTypes(t *testing.T) {
	type inner struct{ K int }
	type wrapped struct{ Of any }
	seen := map[string]string{}
	for name, v := range map[string]any{
		"text": &text.Template{}, "html": &html.Template{}, "value": html.Template{},
		"none": wrapped{}, "inner": wrapped{inner{1}}, "pointer": wrapped{&inner{1}}, "other": wrapped{struct{ K int }{1}},
		"slice": wrapped{[]any{inner{1}}}, "in map": wrapped{map[string]any{"a": inner{1}}},
		"other in map": wrapped{map[string]any{"a": struct{ K int }{1}}}, "array": wrapped{[1]any{inner{1}}},
		"twice": wrapped{wrapped{inner{1}}}, "embedded": embedding{around{Inner: unnamed{}}}, "others": embedding{around{Inner: renamed{}}},
	} {
		types := typesOf(v)
		if other, ok := seen[types]; ok {
			t.Errorf("%s and %s are both %s", name, other, types)
		}
		seen[types] = name
	}
	itself := &wrapped{}
	itself.Of = itself // as a value that encodes itself may
	if typesOf(itself) == "" {
		t.Error("no type")
	}
	// Another type, encoded as the same JSON.
	key := func(r Rule) Key {
		s := settings()
		s.Optimizer = OptimizerOf(r, 0.1)
		return runKey(t, logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data, s)
	}
	if key(around{Inner: unnamed{0.9}}) == key(around{Inner: renamed{unnamed{0.9}}}) {
		t.Error("rules around different rules draw the same noise")
	}
	if one, again := key(around{Inner: unnamed{0.9}}), key(around{Inner: unnamed{0.9}}); one != again {
		t.Error("one rule is two")
	}
}

// embedding has the exported fields of around.
type embedding struct{ around }

// around is a rule that contains another one.
type around struct {
	unnamed
	Inner Rule
}
