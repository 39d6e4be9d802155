package tuner

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/long"
	"pgregory.net/rapid"
)

// mechanismOf returns the engine's mechanism for a candidate that trains on the given nominal number of samples.
func mechanismOf(c Candidate, size float64) engine.Mechanism {
	return engine.Mechanism{SamplingProbability: c.SamplingRate, NoiseMultiplier: c.NoiseMultiplier, ClippingNorm: c.ClippingNorm, ExpectedBatchSize: c.SamplingRate * size}
}

// Each run has the noise, clipping norm, sampling rate and steps of its own candidate, which is charged, and the final
// run has the winner's: never one candidate's clipping norm with another's noise. The candidates have nothing in
// common, and the third wins.
func TestRunsTrainWhatTheyDraw(t *testing.T) {
	candidates := Grid{
		{LearningRate: 0.1, SamplingRate: 0.1, Steps: 3, NoiseMultiplier: 2, ClippingNorm: 1},
		{LearningRate: 0.2, SamplingRate: 0.2, Steps: 5, NoiseMultiplier: 3, ClippingNorm: 0.25},
		{LearningRate: 0.4, SamplingRate: 0.05, Steps: 7, NoiseMultiplier: 5, ClippingNorm: 4},
		{LearningRate: 0.8, SamplingRate: 0.3, Steps: 2, NoiseMultiplier: 7, ClippingNorm: 16},
	}
	methods(t, func(t *testing.T, m Method) {
		s := settings(m, 12)
		s.Space = candidates
		plan := planWith(t, s, 12)
		sizes := map[Method][2]float64{Baseline: {200, 200}, Variant1: {40, 160}, Variant2: {40, 200}}[m]
		lab := &fakeLab{accuracy: func(job engine.Job) float64 {
			if job.Mechanism.ClippingNorm == 4 {
				return 0.75
			}
			return 0.25
		}}
		result := mustRun(t, lab.executor(t), plan)
		checked := lab.jobs
		steps, seen := 0, map[Candidate]bool{}
		for i, trial := range plan.Private.Trials {
			c, job := trial.Candidate, checked[uint32(i)+1]
			if !slices.Contains(candidates, c) {
				t.Errorf("trial %d draws %+v", i, c)
			}
			if want := mechanismOf(c, sizes[0]); job.Mechanism != want || job.Optimizer.LearningRate != c.LearningRate {
				t.Errorf("trial %d of %+v trains by %+v at %v", i, c, job.Mechanism, job.Optimizer.LearningRate)
			}
			steps += c.Steps
			seen[c] = true
		}
		if len(seen) != len(candidates) {
			t.Fatalf("%d candidates are tried: the test shows little", len(seen))
		}
		won := candidates[2]
		h := result.Released.Hyperparameters
		if h.Tuned != won || h.Privacy.NoiseMultiplier != won.NoiseMultiplier || h.Privacy.ClippingNorm != won.ClippingNorm || h.Privacy.Steps != won.Steps ||
			h.Privacy.SamplingRate != won.SamplingRate || h.Privacy.NominalSize != sizes[1] {
			t.Errorf("released %+v", h)
		}
		if m != Baseline {
			steps += won.Steps
			if final := checked[finalStream]; final.Mechanism != mechanismOf(won, sizes[1]) {
				t.Errorf("the final run trains by %+v", final.Mechanism)
			}
		}
		if lab.stepped != steps {
			t.Errorf("%d steps are taken, want %d", lab.stepped, steps)
		}
	})
}

// Candidates that differ in sampling rate, steps or noise are two kinds of run, and both are charged. Otherwise they
// are one kind.
func TestEveryKindOfRunIsCharged(t *testing.T) {
	base := Candidate{LearningRate: 0.1, SamplingRate: 0.1, Steps: 10, NoiseMultiplier: 3, ClippingNorm: 1}
	for name, change := range map[string]func(*Candidate){
		"noise":         func(c *Candidate) { c.NoiseMultiplier = 2 },
		"steps":         func(c *Candidate) { c.Steps = 20 },
		"sampling rate": func(c *Candidate) { c.SamplingRate = 0.2 },
	} {
		other, same := base, base
		change(&other)
		same.LearningRate, same.ClippingNorm = 7, 7
		s := settings(Variant1, 5)
		s.Space = Grid{base, same, other}
		dear := accountant.DPSGD(other.SamplingRate, other.NoiseMultiplier, other.Steps)
		both := []accountant.Event{accountant.DPSGD(0.1, 3, 10), dear}
		want := accountant.Variant1Of(0.2, s.Repetitions, accountant.OneOf{Events: both, Weights: []float64{2, 1}}, accountant.MaxOver{Events: both})
		if got := s.Event(); !reflect.DeepEqual(got, want) {
			t.Errorf("another %s: charged for %+v, want %+v", name, got, want)
		}
		whole, err := s.Guarantee(1e-5, accountant.Options{Mode: accountant.Paper})
		if err != nil {
			t.Fatal(err)
		}
		if g, err := accountant.Epsilon(accountant.Variant1(0.2, s.Repetitions, dear), 1e-5, accountant.Options{Mode: accountant.Paper}); err != nil || whole.Epsilon < g.Epsilon {
			t.Errorf("another %s: epsilon %v, and %v of the dearer run alone, %v", name, whole.Epsilon, g.Epsilon, err)
		}
	}
}

// The first candidate of a region has the first of each list, and the geometric mean of each range.
func TestFirstOfARegion(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	r := Region{
		LearningRate: Values{List: []float64{0.3, 0.1, 0.2}}, SamplingRate: Values{List: []float64{0.2, 0.1}},
		Epochs: Values{List: []float64{3, 1, 2}}, ClippingNorm: Between(0.5, 8),
	}
	s := searching(t, Variant1, r)
	want := Candidate{LearningRate: 0.3, SamplingRate: 0.2, Steps: 15, ClippingNorm: 2}
	got := mustPlan(t, s, 1).First
	if want.NoiseMultiplier = got.NoiseMultiplier; got != want || !slices.Contains(s.Space.(Region).Runs, got.run()) {
		t.Errorf("first %+v, want %+v of the runs %+v", got, want, s.Space.(Region).Runs)
	}
}

// A rate whose final rate is the limit stays, with any rounding of the two, and a rate larger by more than rounding is
// removed.
func TestTheLimitItselfIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := settings(rapid.SampledFrom([]Method{Baseline, Variant1, Variant2}).Draw(t, "method"), 5)
		s.SubsetRate = rapid.Float64Range(0.001, 0.999).Draw(t, "q")
		rate := math.Exp(rapid.Float64Range(-12, 5).Draw(t, "log rate"))
		s.Space = Grid{{LearningRate: rate}, {LearningRate: rate * (1 + 1e-7)}}
		for _, limit := range []float64{s.FinalLearningRate(rate), math.Nextafter(s.FinalLearningRate(rate), 0)} {
			within, err := s.WithinFinalRate(limit)
			if err != nil || len(grid(within)) != 1 || grid(within)[0].LearningRate != rate {
				t.Fatalf("of %v and a little more %v is left at limit %v, %v", rate, within.Space, limit, err)
			}
		}
	})
}
