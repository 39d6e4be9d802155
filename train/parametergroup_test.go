package train

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/engine"
)

// layoutOfThree is the layout of parameters a, b and c of 3, 2 and 1 values, the first and the last with padding.
var layoutOfThree = engine.Layout{Offsets: []int{0, 4, 6}, Lengths: []int{3, 2, 1}, Size: 8}

// twoGroups are groups of c and a, and of b.
func twoGroups() []ParameterGroup {
	return []ParameterGroup{
		{Parameters: []string{"c", "a"}, LearningRate: 0.25, WeightDecay: 3},
		{Parameters: []string{"b"}, LearningRate: 2, WeightDecay: 0},
	}
}

// methodsWithDecay are optimizers of all methods, with decay where they have it.
func methodsWithDecay() []Optimizer {
	plain, momentum, nesterov := SGD(0.1), Momentum(0.03, 0.9), Nesterov(0.03, 0.8)
	plain.WeightDecay, momentum.WeightDecay, nesterov.WeightDecay = 0.5, 0.3, 0.3
	return []Optimizer{SGD(0.1), plain, momentum, nesterov, Adam(0.05), AdamW(0.05, 0.1)}
}

// Each value of a parameter of a group moves like a parameter of its own by the method's definition in float64, at the
// rate η·f and with the decay λ·d, with schedule, accumulation and average too.
func TestGroupsAgreeWithTheirDefinition(t *testing.T) {
	factorsOf := map[string][2]float64{"a": {0.25, 3}, "b": {2, 0}, "c": {0.25, 3}}
	const steps = 11
	for _, o := range methodsWithDecay() {
		for _, everything := range []bool{false, true} {
			o.Groups = twoGroups()
			if everything {
				o.Schedule, o.Accumulate, o.Average = Warmup(0.2, Cosine(0.1)), 3, 0.8
			}
			m := must(newMover(o, must(factors(o.Schedule, steps)), nil, []string{"a", "b", "c"}, layoutOfThree, steps, true))
			params := []float32{0.7, -0.2, 0.1, 0, 1, 0.5, -0.9, 0}
			names := []string{"a", "a", "a", "", "b", "b", "c", ""} // of each value; none for padding
			refs, θ, sum, average := make([]reference, 8), make([]float64, 8), make([]float64, 8), make([]float64, 8)
			for j, v := range params {
				θ[j] = float64(v)
			}
			draw, held, updates := rand.New(rand.NewPCG(5, 6)), 0, 0
			for step := 1; step <= steps; step++ {
				gradient := make([]float32, 8)
				for j, name := range names {
					if name != "" {
						gradient[j] = float32(draw.IntN(257)-128) / 64 // adds up exactly
					}
					sum[j] += float64(gradient[j])
				}
				if err := m.move(step, params, gradient); err != nil {
					t.Fatal(err)
				}
				if held++; held < max(1, o.Accumulate) && step < steps {
					continue
				}
				updates++
				rate, keep := o.LearningRate, min(o.Average, float64(updates-1)/float64(updates))
				if o.Schedule != nil {
					rate *= o.Schedule.Factor(step, steps)
				}
				for j, name := range names {
					own := o
					own.WeightDecay *= factorsOf[name][1]
					θ[j] = refs[j].step(own, updates, rate*factorsOf[name][0], θ[j], sum[j]/float64(held))
					average[j] = keep*average[j] + (1-keep)*θ[j]
					want := θ[j]
					if everything {
						want = average[j]
					}
					if got := float64(m.released(params)[j]); math.Abs(got-want) > 1e-5 {
						t.Fatalf("%s: step %d leads %q to %v, want %v", o, step, name, got, want)
					}
				}
				clear(sum)
				held = 0
			}
		}
	}
}

// Groups leave the state of momentum and moments as it is, and factors of one give the bits of an optimizer without
// groups.
func TestFactorsOfOne(t *testing.T) {
	const steps = 7
	for _, o := range methodsWithDecay() {
		o.Average = 1 // so that no optimizer is fused
		grouped, ones := o, o
		grouped.Groups = twoGroups()
		ones.Groups = []ParameterGroup{{Parameters: []string{"b", "c"}, LearningRate: 1, WeightDecay: 1}}
		end := func(o Optimizer) (*mover, []float32) {
			m := must(newMover(o, nil, nil, []string{"a", "b", "c"}, layoutOfThree, steps, true))
			params, draw := []float32{0.7, -0.2, 0.1, 0, 1, 0.5, -0.9, 0}, rand.New(rand.NewPCG(7, 8))
			for step := 1; step <= steps; step++ {
				gradient := layoutOfThree.Join(layoutOfThree.Split([]float32{draw.Float32(), draw.Float32(), 1, 0, -1, draw.Float32(), 2, 0}))
				if err := m.move(step, params, gradient); err != nil {
					t.Fatal(err)
				}
			}
			return m, params
		}
		plain, want := end(o)
		if m, got := end(ones); !slices.Equal(got, want) || !reflect.DeepEqual(m.save(), plain.save()) {
			t.Errorf("%s: factors of one lead to %v, none to %v", o, got, want)
		}
		if m, got := end(grouped); slices.Equal(got, want) || !reflect.DeepEqual(m.state, plain.state) {
			t.Errorf("%s: with groups the parameters are %v and the rule's state %v, without them %v and %v", o, got, m.state, want, plain.state)
		}
	}
}

// grouping is a rule that multiplies the rate of b, and spoils the names.
type grouping struct{}

func (grouping) Name() string      { return "grouping" }
func (grouping) State([]int) []int { return nil }

func (grouping) Move(u *Update) error {
	for i, p := range u.Parameters {
		rate := u.LearningRate
		if u.Names[i] == "b" {
			rate *= 3
		}
		for j, g := range u.Gradient[i] {
			p[j] = float32(float64(p[j]) - float64(rate*float64(g)))
		}
		u.Names[i] = "b"
	}
	return nil
}

// Without noise, a group of DPSGD moves like a rule that reads names, to the last bit.
func TestNamesOfARule(t *testing.T) {
	end := func(o Optimizer) Result {
		s := cpuSettings(o)
		s.Privacy.SamplingRate, s.Privacy.NoiseMultiplier, s.Privacy.Steps = 1, 0, 5
		return must(onCPU(t, 1, s).Train(t.Context(), nil))
	}
	o := SGD(0.5)
	o.Groups = []ParameterGroup{{Parameters: []string{"b"}, LearningRate: 3, WeightDecay: 1}}
	got, want := end(o), end(OptimizerOf(grouping{}, 0.5))
	if !reflect.DeepEqual(got.Parameters, want.Parameters) {
		t.Errorf("the group leads to %v, the rule to %v", got.Parameters, want.Parameters)
	}
	if plain := end(SGD(0.5)); reflect.DeepEqual(plain.Parameters, want.Parameters) {
		t.Error("the rule's factor has no effect")
	}
}

// Runs with groups learn, and one that is stopped and resumed ends in the same bytes.
func TestGroupsLearnAndResume(t *testing.T) {
	everything := AdamW(0.02, 0.01)
	everything.Schedule, everything.Accumulate, everything.Average = Warmup(0.1, Cosine(0)), 3, 1
	for _, o := range []Optimizer{SGD(0.5), Momentum(0.05, 0.9), Nesterov(0.05, 0.9), Adam(0.02), AdamW(0.02, 0.01), everything} {
		o.Groups = []ParameterGroup{{Parameters: []string{"b"}, LearningRate: 0.5}}
		s := cpuSettings(o)
		trainer := onCPU(t, 2, s)
		if trainer.group.settings[0].mover == nil {
			t.Errorf("%s is fused", o)
		}
		want := must(trainer.Train(t.Context(), nil))
		if got := stopAndResume(t, s, 137); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the resumed run ends elsewhere", o)
		}
		if accuracy := must(trainer.Score(t.Context(), threeClouds(t, 300))); accuracy < 0.97 {
			t.Errorf("%s: accuracy %v", o, accuracy)
		}
	}
}

// A run goes on from another's state with groups or without, except that moments are an engine's without groups and the
// rule's with them.
func TestFromAStateWithGroups(t *testing.T) {
	with := func(o Optimizer, groups bool) Settings {
		if groups {
			o.Groups = []ParameterGroup{{Parameters: []string{"b"}, LearningRate: 0.5}}
		}
		s := cpuSettings(o)
		s.Privacy.Steps = 5
		return s
	}
	for _, o := range []Optimizer{SGD(0.5), Momentum(0.05, 0.9), Adam(0.02)} {
		for _, before := range []bool{false, true} {
			first := onCPU(t, 1, with(o, before))
			if _, err := first.Train(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			from := must(first.State())
			s := with(o, !before)
			s.Privacy.Steps, s.From = 8, &from
			_, err := first.group.model.Start(s)
			var wrong *SettingError
			if refused := errors.As(err, &wrong); refused != (o.Method == DPAdam) || !refused && err != nil {
				t.Errorf("%s, groups before %v: %v", o, before, err)
			}
		}
	}
}

func TestGroupsRefused(t *testing.T) {
	group := func(rate, decay float64, names ...string) ParameterGroup { return ParameterGroup{names, rate, decay} }
	nan, inf := math.NaN(), math.Inf(1)
	for i, c := range []struct {
		rule   Rule
		groups []ParameterGroup
		want   string
	}{
		{nil, []ParameterGroup{group(0, 1, "w")}, "one of the model's Constants"},
		{nil, []ParameterGroup{group(-1, 1, "w")}, "learning rate of a group is -1"},
		{nil, []ParameterGroup{group(nan, 1, "w")}, "learning rate of a group is NaN"},
		{nil, []ParameterGroup{group(inf, 1, "w")}, "learning rate of a group is +Inf"},
		{nil, []ParameterGroup{group(1, -1, "w")}, "weight decay of a group is -1"},
		{nil, []ParameterGroup{group(1, nan, "w")}, "weight decay of a group is NaN"},
		{nil, []ParameterGroup{group(1, 1, "w"), group(1, inf, "b")}, "weight decay of a group is +Inf"},
		{nil, []ParameterGroup{group(1, 1)}, "parameters of a group is missing"},
		{nil, []ParameterGroup{group(1, 1, "w", "")}, `parameter of a group is ""`},
		{nil, []ParameterGroup{group(1, 1, "w", "b", "w")}, `parameter of a group is "w"`},
		{nil, []ParameterGroup{group(1, 1, "w"), group(2, 1, "b", "w")}, `parameter of a group is "w"`},
		{unnamed{0.9}, []ParameterGroup{group(1, 1, "w")}, "train.Update.Names"},
	} {
		o := SGD(1)
		if c.rule != nil {
			o = OptimizerOf(c.rule, 1)
		}
		o.Groups = c.groups
		var wrong *SettingError
		if err := o.Validate(); !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: error %v, want %q", i, err, c.want)
		}
	}
	for _, o := range methodsWithDecay() {
		if o.Groups = twoGroups(); o.Validate() != nil {
			t.Errorf("%s: %v", o, o.Validate())
		}
	}
}

// Names that the model lacks fail the start of a run, and of TrainAll that run alone.
func TestUnknownParameter(t *testing.T) {
	good, bad := settings(), settings()
	bad.Trial, bad.Optimizer.Groups = 1, []ParameterGroup{{Parameters: []string{"w", "bias"}, LearningRate: 2}}
	good.Optimizer.Groups = []ParameterGroup{{Parameters: []string{"w"}, LearningRate: 2}}
	l := must(Load(cpu.New(cpu.Options{Workers: 1}), logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data))
	defer l.Close()
	const want = `parameter of a group is "bias": want one of the model's: ["w" "b"]`
	var wrong *SettingError
	if _, err := l.Start(good, bad); !errors.As(err, &wrong) || wrong.Error() != want {
		t.Errorf("Start: %v", err)
	}
	if _, err := New(cpu.New(cpu.Options{Workers: 1}), logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data, bad); !errors.As(err, &wrong) {
		t.Errorf("New: %v", err)
	}
	out := must(l.TrainAll(context.Background(), nil, Run{Settings: good}, Run{Settings: bad}))
	if out[0].Err != nil || !errors.As(out[1].Err, &wrong) {
		t.Errorf("TrainAll: %v, %v", out[0].Err, out[1].Err)
	}
}

// An optimizer with groups is encoded whole and decoded again; an empty list encodes as none does.
func TestEncodedGroups(t *testing.T) {
	o := Momentum(0.5, 0.9)
	o.Groups = twoGroups()
	encoded := must(json.Marshal(o))
	var back Optimizer
	if err := json.Unmarshal(encoded, &back); err != nil || !reflect.DeepEqual(back, o) {
		t.Errorf("%s is decoded as %+v, %v", encoded, back, err)
	}
	if want := `"Groups":[{"Parameters":["c","a"],"LearningRate":0.25,"WeightDecay":3},{"Parameters":["b"],"LearningRate":2,"WeightDecay":0}]`; !strings.Contains(string(encoded), want) {
		t.Errorf("%s has no %s", encoded, want)
	}
	if o.Groups = []ParameterGroup{}; strings.Contains(string(must(json.Marshal(o))), "Groups") {
		t.Error("an empty list is encoded")
	}
}
