package tuner

import (
	"errors"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/long"
	"github.com/dptrain/dptrain/train"
)

// uneven returns a tuning of three kinds of runs, the second of which costs most at equal noise.
func uneven(d Division) Settings {
	s := settings(Variant1, 4)
	s.Division = d
	s.Space = Grid{
		{LearningRate: 1, SamplingRate: 0.1, Steps: 30, ClippingNorm: 1},
		{LearningRate: 1, SamplingRate: 0.2, Steps: 40, ClippingNorm: 1},
		{LearningRate: 1, SamplingRate: 0.1, Steps: 60, ClippingNorm: 1},
		{LearningRate: 2, SamplingRate: 0.1, Steps: 60, ClippingNorm: 1},
	}
	return s
}

func noises(g Grid) (out []float64) {
	for _, c := range g {
		out = append(out, c.NoiseMultiplier)
	}
	return out
}

// With every division the result is charged as it is and uses up the budget. The less equal the costs, the less noise
// the costliest run has, and the more the cheapest.
func TestDivisions(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	const epsilon, delta = 3, 1e-4
	for _, mode := range []accountant.Mode{accountant.Paper, accountant.Tight} {
		o := accountant.Options{Mode: mode}
		found := map[Division][]float64{}
		for _, d := range []Division{EqualCost, EqualNoise} {
			got, g, err := Calibrate(uneven(d), epsilon, delta, o)
			if err != nil {
				t.Fatal(err)
			}
			checkGuarantee(t, got, g, epsilon, delta, o)
			if g.Epsilon < epsilon*(1-1e-6) {
				t.Errorf("%s, %q: epsilon %v is left of %v", mode, d, g.Epsilon, float64(epsilon))
			}
			found[d] = noises(grid(got))
		}
		cost, noise := found[EqualCost], found[EqualNoise]
		if slices.Min(noise) != slices.Max(noise) {
			t.Errorf("%s: equal noise is %v", mode, noise)
		}
		if noise[0] <= cost[0] {
			t.Errorf("%s: the cheapest run has %v by noise, %v by cost", mode, noise[0], cost[0])
		}
		if mode != accountant.Paper && noise[1] >= cost[1] { // mode paper charges trials the maximum
			t.Errorf("%s: the dearest run has %v by noise, %v by cost", mode, noise[1], cost[1])
		}
		if cost[2] != cost[3] {
			t.Errorf("%s: runs of one kind have noise %v", mode, cost)
		}
	}
}

// If the costliest run's noise grows, no other run's noise falls.
func TestDivisionsAreMonotone(t *testing.T) {
	g := grid(uneven(EqualCost))
	c := calibration{delta: 1e-4}
	by := func(noise float64, d Division) []float64 {
		c := c
		c.division = d
		return noises(g.noisy(noise, c).(Grid))
	}
	below := map[Division][]float64{}
	for _, noise := range []float64{0.3, 0.7, 1, 1.5, 4, 20} {
		cost, equal := by(noise, EqualCost), by(noise, EqualNoise)
		for i := range g {
			if equal[i] != noise {
				t.Errorf("equal noise of %v is %v", noise, equal[i])
			}
		}
		for d, now := range map[Division][]float64{EqualCost: cost, EqualNoise: equal} {
			for i, before := range below[d] {
				if now[i] < before {
					t.Errorf("%q: more noise of the dearest run takes candidate %d from %v to %v", d, i, before, now[i])
				}
			}
			below[d] = now
		}
	}
}

// A grid of one kind of run, steps that follow from given noise, and a region below a line have nothing to divide. A
// region of lists is divided like the grid of its kinds.
func TestDivisionsWithoutEffect(t *testing.T) {
	const epsilon, delta = 3, 1e-4
	o := accountant.Options{Mode: accountant.Paper, Orders: accountant.Orders{Low: 2, High: 32}}
	one := func(s Settings) Settings {
		s.Space = grid(s)[:1]
		return s
	}
	line := func(s Settings) Settings {
		s.Space = Region{LearningRate: Between(0.1, 1), SamplingRate: Between(0.1, 0.2), ClippingNorm: Values{List: []float64{1}}, Epochs: Values{List: []float64{3, 6}}}
		return s
	}
	lists := func(s Settings) Settings {
		s.Space = Region{LearningRate: Between(0.1, 1), SamplingRate: Values{List: []float64{0.1, 0.2}}, ClippingNorm: Values{List: []float64{1}}, Epochs: Values{List: []float64{3, 6}}}
		return s
	}
	given := func(s Settings) Settings {
		s.Space = grid(s).WithNoiseMultiplier(3)
		return s
	}
	for name, c := range map[string]struct {
		of        func(Settings) Settings
		calibrate func(Settings, float64, float64, accountant.Options) (Settings, accountant.Guarantee, error)
		same      bool
	}{
		"one kind":      {one, Calibrate, true},
		"a line":        {line, Calibrate, true},
		"given noise":   {given, CalibrateSteps, true},
		"lists":         {lists, Calibrate, false},
		"several kinds": {func(s Settings) Settings { return s }, Calibrate, false},
	} {
		a, g, err := c.calibrate(c.of(uneven(EqualCost)), epsilon, delta, o)
		if err != nil {
			t.Fatal(err)
		}
		b, h, err := c.calibrate(c.of(uneven(EqualNoise)), epsilon, delta, o)
		if err != nil {
			t.Fatal(err)
		}
		runs := func(s Settings) []Run {
			if r, ok := s.Space.(Region); ok {
				return append(slices.Clone(r.Runs), Run{0, 0, r.Line.Slope})
			}
			return grid(s).Runs()
		}
		if same := slices.Equal(runs(a), runs(b)) && g == h; same != c.same {
			t.Errorf("%s: by cost %v, %+v, by noise %v, %+v", name, runs(a), g, runs(b), h)
		}
	}
	divided, _, err := Calibrate(lists(uneven(EqualNoise)), epsilon, delta, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range divided.Space.(Region).Runs {
		if first := divided.Space.(Region).Runs[0]; r.NoiseMultiplier != first.NoiseMultiplier {
			t.Errorf("equal noise of a region of lists: %v and %v", first, r)
		}
	}
}

func TestUnknownDivision(t *testing.T) {
	s := uneven("cost")
	var setting *train.SettingError
	if _, _, err := Calibrate(s, 3, 1e-4, accountant.Options{}); !errors.As(err, &setting) || setting.Setting != "division of the budget" {
		t.Errorf("Calibrate: %v", err)
	}
	if err := s.Validate(); !errors.As(err, &setting) {
		t.Errorf("Validate: %v", err)
	}
}
