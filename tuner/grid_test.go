package tuner

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/long"
	"github.com/dptrain/dptrain/train"
	"pgregory.net/rapid"
)

// paperGrid returns the paper's grid on MNIST with everything tuned, for total epsilon by its bounds.
func paperGrid(t testing.TB, m Method) Settings {
	t.Helper()
	s := mnist(m)
	s.Repetitions = accountant.Poisson{Mean: 45}
	grid, err := Lists{
		LearningRates: []float64{0.1, 1},
		SamplingRates: []float64{0.0213, 0.0427},
		Epochs:        []float64{10, 20, 30, 40},
		ClippingNorms: []float64{1},
	}.Grid()
	if err != nil {
		t.Fatal(err)
	}
	s.Space = grid
	return s
}

func TestListsAreAProduct(t *testing.T) {
	s := paperGrid(t, Variant1)
	want := []Run{{0.0213, 469, 0}, {0.0213, 939, 0}, {0.0213, 1408, 0}, {0.0213, 1878, 0}, {0.0427, 234, 0}, {0.0427, 468, 0}, {0.0427, 703, 0}, {0.0427, 937, 0}}
	if got := grid(s).Runs(); !slices.Equal(got, want) {
		t.Errorf("runs %v, want %v", got, want)
	}
	if g := grid(s); len(g) != 16 || g[0].LearningRate != 0.1 || g[1].LearningRate != 1 || g[1].Steps != 469 {
		t.Errorf("candidates %+v", g)
	}
	var setting *train.SettingError
	for _, epochs := range [][]float64{{10, 10.001}, {0.001}, {math.NaN()}} {
		if g, err := (Lists{LearningRates: []float64{1}, SamplingRates: []float64{0.1}, Epochs: epochs, ClippingNorms: []float64{1}}).Grid(); !errors.As(err, &setting) {
			t.Errorf("epochs %v: %v, %v", epochs, g, err)
		}
	}
	if g, err := (Lists{LearningRates: []float64{1}, SamplingRates: []float64{0.1, 0.2}, ClippingNorms: []float64{1, 2}}).Grid(); err != nil || len(g) != 4 || g[3] != (Candidate{1, 0.2, 0, 0, 2}) {
		t.Errorf("without epochs: %v, %v", g, err)
	}
}

// For each method and all bounds the returned settings are charged as they are and cost at most the target, single runs
// cost the same, no noise is more than needed, and nothing else changes.
func TestCalibratedGridMeetsTheTarget(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	const epsilon, delta = 3, 1e-4
	methods(t, func(t *testing.T, m Method) {
		for _, mode := range modes(m) {
			given := settings(m, 4)
			given.Space = Grid{
				{LearningRate: 0.1, SamplingRate: 0.1, Steps: 30, NoiseMultiplier: 7, ClippingNorm: 1},
				{LearningRate: 1, SamplingRate: 0.1, Steps: 30, ClippingNorm: 1},
				{LearningRate: 1, SamplingRate: 0.1, Steps: 60, ClippingNorm: 1},
				{LearningRate: 2, SamplingRate: 0.2, Steps: 10, NoiseMultiplier: 1e-3, ClippingNorm: 3},
			}
			before := slices.Clone(grid(given))
			o := accountant.Options{Mode: mode}
			got, g, err := Calibrate(given, epsilon, delta, o)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(grid(given), before) {
				t.Errorf("%s: it changed the caller's space to %+v", mode, given.Space)
			}
			checkGuarantee(t, got, g, epsilon, delta, o)
			var alone []float64
			for i, c := range grid(got) {
				one, err := accountant.Epsilon(c.run().event(), delta, accountant.Options{Mode: accountant.Paper})
				if err != nil {
					t.Fatal(err)
				}
				alone = append(alone, one.Epsilon)
				c.NoiseMultiplier = before[i].NoiseMultiplier
				if c != before[i] {
					t.Errorf("%s: candidate %d became %+v", mode, i, c)
				}
			}
			if slices.Max(alone) > slices.Min(alone)*(1+1e-8) {
				t.Errorf("%s: runs alone cost %v", mode, alone)
			}
			less := slices.Clone(grid(got))
			for i := range less {
				less[i].NoiseMultiplier *= 1 - 1e-4
			}
			got.Space = less
			if less, err := got.Guarantee(delta, o); err != nil || less.Epsilon <= epsilon {
				t.Errorf("%s: less noise costs %+v, %v", mode, less, err)
			}
		}
	})
}

// modes are all for variant 1, and the fast ones for the others.
func modes(m Method) []accountant.Mode {
	if m == Variant1 {
		return []accountant.Mode{accountant.Paper, accountant.Tight, accountant.Best}
	}
	return []accountant.Mode{accountant.Paper, accountant.Tight}
}

func checkGuarantee(t *testing.T, s Settings, g accountant.Guarantee, epsilon, delta float64, o accountant.Options) {
	t.Helper()
	if stated, err := accountant.Epsilon(s.Event(), delta, o); err != nil || stated != g || !(g.Epsilon <= epsilon) || g.Mode != o.Mode && o.Mode != "" {
		t.Errorf("%s: guarantee %+v, the event's is %+v, %v, want epsilon %v", o.Mode, g, stated, err, epsilon)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
}

func anyGrid(t *rapid.T) Grid {
	n := rapid.IntRange(1, 4).Draw(t, "candidates")
	var g Grid
	for range n {
		g = append(g, Candidate{
			LearningRate: 1, ClippingNorm: 1,
			SamplingRate: rapid.Float64Range(0.001, 1).Draw(t, "sampling rate"),
			Steps:        rapid.IntRange(1, 3000).Draw(t, "steps"),
		})
	}
	return g
}

// Another candidate never lowers the others' noise, except by the searches' rounding.
func TestACandidateMoreNeverCostsLess(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	long.Check(t, 30, func(t *rapid.T) {
		few := settings(rapid.SampledFrom([]Method{Baseline, Variant1, Variant2}).Draw(t, "method"), 5)
		few.Space = anyGrid(t)
		more := few
		more.Space = append(slices.Clone(grid(few)), anyGrid(t)...)
		epsilon := rapid.Float64Range(1, 8).Draw(t, "epsilon")
		o := accountant.Options{Mode: accountant.Paper, Orders: accountant.Orders{Low: 2, High: 32}} // fewer, for speed
		a, _, err := Calibrate(few, epsilon, 1e-5, o)
		if err != nil {
			t.Fatal(err)
		}
		b, g, err := Calibrate(more, epsilon, 1e-5, o)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range grid(a) {
			if d := grid(b)[i]; d.NoiseMultiplier < c.NoiseMultiplier*(1-1e-6) {
				t.Fatalf("with more candidates %+v became %+v", c, d)
			}
		}
		// Charged as it is: with the same noise another candidate costs no less.
		part := b
		part.Space = grid(b)[:len(grid(few))]
		least, err := part.Guarantee(1e-5, o)
		if err != nil || least.Epsilon > g.Epsilon || g.Epsilon > epsilon {
			t.Fatalf("a part costs %v, %v, the whole %v of %v: %+v", least.Epsilon, err, g.Epsilon, epsilon, b.Space)
		}
	})
}

// The other direction: noise is given, each kind of run alone costs at most the target of the runs with the finest
// steps, and one more step of any kind costs more than the target.
func TestCalibrateSteps(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	methods(t, func(t *testing.T, m Method) {
		for _, mode := range modes(m) {
			if mode == accountant.Best && !long.Tests() { // package accountant has it too
				continue
			}
			s := settings(m, 4)
			s.Space = append(LearningRates(Candidate{SamplingRate: 0.05, NoiseMultiplier: 2, ClippingNorm: 1, Steps: 99}, 0.1, 1), LearningRates(Candidate{SamplingRate: 0.01, NoiseMultiplier: 2, ClippingNorm: 1}, 0.1, 1)...)
			o := accountant.Options{Mode: mode}
			got, g, err := CalibrateSteps(s, 3, 1e-5, o)
			if err != nil {
				t.Fatal(err)
			}
			checkGuarantee(t, got, g, 3, 1e-5, o)
			runs := grid(got).Runs()
			if len(runs) != 2 || runs[0].NoiseMultiplier != 2 || runs[1].Steps < runs[0].Steps {
				t.Fatalf("runs %v", runs)
			}
			alone := func(r Run) float64 {
				one, err := accountant.Epsilon(r.event(), 1e-5, accountant.Options{Mode: accountant.Paper})
				if err != nil {
					t.Fatal(err)
				}
				return one.Epsilon
			}
			target := alone(runs[1])
			more := runs[0]
			more.Steps++
			if alone(runs[0]) > target || alone(more) <= target {
				t.Errorf("%v cost %v, one more step %v, the target is %v", runs[0], alone(runs[0]), alone(more), target)
			}
			longer := slices.Clone(grid(got))
			for i := range longer {
				longer[i].Steps += 1 + longer[i].Steps/1000
			}
			got.Space = longer
			if more, err := got.Guarantee(1e-5, o); err != nil || more.Epsilon <= 3 {
				t.Errorf("more steps cost %v, %v", more.Epsilon, err)
			}
		}
	})
}

func TestCalibrateStepsRefuses(t *testing.T) {
	s := mnist(Variant1)
	for _, tt := range []struct {
		noise   float64
		epsilon float64
		want    error
	}{
		{0.2, 0.1, accountant.ErrInfeasible},
		{1e12, 5, accountant.ErrUnbounded},
	} {
		s.Space = grid(s).WithNoiseMultiplier(tt.noise)
		if got, _, err := CalibrateSteps(s, tt.epsilon, 1e-5, accountant.Options{Mode: accountant.Paper}); !errors.Is(err, tt.want) {
			t.Errorf("noise %v: %v, %v, want %v", tt.noise, got.Space, err, tt.want)
		}
	}
	if _, _, err := CalibrateSteps(Settings{Method: "x", Space: Grid{}}, 1, 1e-5, accountant.Options{Mode: accountant.Paper}); err == nil {
		t.Error("an unknown method has steps")
	}
}

// Rates above the limit are removed, the limit itself stays with any rounding, and no remaining rate is an error.
func TestWithinFinalRate(t *testing.T) {
	s := mnist(Variant1) // rates 0.1 and 1, nine times as large in the final run
	within, err := s.WithinFinalRate(0.9)
	if err != nil || len(grid(within)) != 1 || grid(within)[0].LearningRate != 0.1 || len(grid(s)) != 2 {
		t.Errorf("%v, %v", within.Space, err)
	}
	var setting *train.SettingError
	if _, err := s.WithinFinalRate(0.89); !errors.As(err, &setting) {
		t.Errorf("no rate is left: %v", err)
	}
	s.Optimizer = train.Adam(0)
	if within, err := s.WithinFinalRate(1); err != nil || len(grid(within)) != 2 {
		t.Errorf("DP-Adam's aren't scaled: %v, %v", within.Space, err)
	}
	s.Optimizer = train.SGD(0)
	s.Space = region()
	within, err = s.WithinFinalRate(0.9)
	if low, high := within.Space.LearningRates(); err != nil || low != 1e-4 || math.Abs(high-0.1) > 1e-8 {
		t.Errorf("a region from %v to %v, %v", low, high, err)
	}
	if _, err := s.WithinFinalRate(1e-5); !errors.As(err, &setting) {
		t.Errorf("no part of the region is left: %v", err)
	}
}
