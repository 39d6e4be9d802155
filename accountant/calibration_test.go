package accountant

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/internal/renyi"
)

// TestNoiseTable has the noise multipliers of the paper's learning-rate experiments (mean 15, q 0.1, delta 1e-5), which
// an independent implementation computed with 60 digits and rounded up.
func TestNoiseTable(t *testing.T) {
	for _, c := range []struct {
		rate    float64
		steps   int
		variant int
		want    [3]float64 // at epsilon 1, 2, 4
	}{
		{0.0213, 1878, 0, [3]float64{10.395216396240157, 5.420998707117095, 2.8797713915759156}},
		{0.0213, 1878, 1, [3]float64{4.220871003259547, 2.7972947809216553, 1.9671869397891975}},
		{0.0213, 1878, 2, [3]float64{4.940871525451937, 3.1481996736840063, 2.140678311302389}},
		{0.0256, 1563, 0, [3]float64{11.393399427464022, 5.935350087256916, 3.141868599808104}},
		{0.0256, 1563, 1, [3]float64{4.616993766908755, 3.0510104607256423, 2.1348258286453143}},
		{0.0256, 1563, 2, [3]float64{5.408013111564276, 3.4374392146225565, 2.32661942211579}},
		{0.0256, 4297, 0, [3]float64{18.848973307956488, 9.777923537363332, 5.108702724760224}},
		{0.0256, 4297, 1, [3]float64{7.563432763040061, 4.956135097662114, 3.403558707750168}},
		{0.0256, 4297, 2, [3]float64{8.8859332522864, 5.604557233928032, 3.7300625019474087}},
	} {
		for i, epsilon := range []float64{1, 2, 4} {
			p := plan{rate: c.rate, steps: c.steps, mean: 15, q: 0.1, variant: c.variant}
			got, err := CalibrateNoise(epsilon, 1e-5, Options{Mode: Paper}, p.withNoise)
			if err != nil {
				t.Fatal(err)
			}
			if want := c.want[i]; !(got >= want*(1-1e-9) && got <= want*(1+1e-6)) {
				t.Errorf("rate %v, %d steps, variant %d, epsilon %v: noise %v, want %v", c.rate, c.steps, c.variant, epsilon, got, want)
			}
		}
	}
}

func TestStepsInModeBest(t *testing.T) {
	steps, err := CalibrateSteps(2, 1e-5, Options{}, func(steps int) Event { return DPSGD(0.0213, 2, steps) })
	if err != nil {
		t.Fatal(err)
	}
	if steps < 1868 || steps > 1878 { // 1878 steps cost 2.0039
		t.Errorf("%d steps, want about 1870", steps)
	}
}

func TestCalibrationLimits(t *testing.T) {
	sgd := func(noise float64) Event { return DPSGD(0.01, noise, 5000) }
	if _, err := CalibrateNoise(0.019, 1e-5, Options{Mode: Paper}, sgd); !errors.Is(err, ErrInfeasible) {
		t.Errorf("below the floor of orders to 256: %v, want ErrInfeasible", err)
	}
	// Above the floor log(1-1/a) - log(delta a)/(a-1) at a = 256, by however little, a noise multiplier exists.
	floor := renyi.EpsilonAt(256, 0, 1e-5)
	if noise, err := CalibrateNoise(floor*1.0001, 1e-5, Options{Mode: Paper}, sgd); err != nil || noise < 100 {
		t.Errorf("just above the floor: %v, %v", noise, err)
	}
	if noise, err := CalibrateNoise(1, 1e-5, Options{Mode: Paper}, func(noise float64) Event { return DPSGD(0, noise, 10) }); err != nil || noise != 0 {
		t.Errorf("rate 0: %v, %v, want noise 0", noise, err)
	}
	if _, err := CalibrateNoise(-1, 1e-5, Options{Mode: Paper}, sgd); !errors.Is(err, ErrInvalid) {
		t.Errorf("epsilon -1: %v, want ErrInvalid", err)
	}
	if _, err := CalibrateNoise(1, 1e-5, Options{Mode: Paper}, func(float64) Event { return nil }); !errors.Is(err, ErrInvalid) {
		t.Errorf("no event: %v, want ErrInvalid", err)
	}
	for _, mode := range []Mode{Paper, Best} {
		o := Options{Mode: mode}
		if _, err := CalibrateSteps(1, 1e-5, o, func(steps int) Event { return DPSGD(0, 1, steps) }); !errors.Is(err, ErrUnbounded) {
			t.Errorf("rate 0: %v, want ErrUnbounded", err)
		}
		fixed := Gaussian{NoiseMultiplier: 0.1}
		if _, err := CalibrateSteps(1, 1e-5, o, func(steps int) Event {
			return Composed{Events: []Event{fixed, DPSGD(0.01, 1, steps)}}
		}); !errors.Is(err, ErrInfeasible) {
			t.Errorf("no room for a step: %v, want ErrInfeasible", err)
		}
	}
	if steps, err := CalibrateSteps(1e-9, 1e-5, Options{Mode: Paper}, func(steps int) Event { return DPSGD(0.01, 1, steps) }); err != nil || steps != 0 {
		t.Errorf("no room for one step: %d, %v, want 0", steps, err)
	}
	if _, err := CalibrateNoiseToLine(math.NaN(), Options{Mode: Paper}, sgd); !errors.Is(err, ErrInvalid) {
		t.Errorf("line NaN: %v, want ErrInvalid", err)
	}
}

// The zero mode is Best everywhere, and searches take the same path: results have the same bits.
func TestZeroOptionsAreTheBestBounds(t *testing.T) {
	run := func(noise float64) Event { return DPSGD(0.1, noise, 20) }
	e := Baseline(Poisson{Mean: 3}, run(3))
	for name, of := range map[string]func(o Options) (any, error){
		"epsilon": func(o Options) (any, error) { return Epsilon(e, 1e-5, o) },
		"delta":   func(o Options) (any, error) { return Delta(e, 1, o) },
		"RDP":     func(o Options) (any, error) { return RDP(e, o) },
		"noise":   func(o Options) (any, error) { return CalibrateNoise(1, 1e-5, o, run) },
		"steps": func(o Options) (any, error) {
			return CalibrateSteps(1, 1e-5, o, func(steps int) Event { return DPSGD(0.1, 3, steps) })
		},
	} {
		for _, orders := range Every(2, []Orders{{}, {Low: 2, High: 32}}) {
			got, err := of(Options{Orders: orders})
			want, wantErr := of(Options{Mode: Best, Orders: orders})
			if !reflect.DeepEqual(got, want) || err != nil || wantErr != nil {
				t.Errorf("%v: %s %+v %v, want %+v %v", orders, name, got, err, want, wantErr)
			}
			if g, ok := got.(Guarantee); ok && g.Mode != Best {
				t.Errorf("%s: mode %s", name, g.Mode)
			}
		}
	}
}

// smallestNoise fails if a noise multiplier isn't enough in mode Best, or if less noise, by a relative 1e-6 or more, is
// enough.
func smallestNoise(t *testing.T, p plan, noise, epsilon, delta float64) {
	t.Helper()
	if e := mustEpsilon(t, p.withNoise(noise), delta, Options{}); e > epsilon {
		t.Errorf("%+v: noise %v costs %v", p, noise, e)
	}
	for _, less := range []float64{1e-6, 1e-5, 1e-3} {
		if e := mustEpsilon(t, p.withNoise(noise*(1-less)), delta, Options{}); e <= epsilon {
			t.Errorf("%+v: less noise than %v by %v costs %v", p, noise, less, e)
		}
	}
}

// In mode Best a search with few evaluations finds the smallest noise that is enough.
func TestSecantsFindTheNoise(t *testing.T) {
	for _, c := range Every(2, []struct {
		variant        int
		rate           float64
		steps          int
		epsilon, delta float64
	}{
		{1, 0.2, 40, 3, 1e-5},
		{4, 0.05, 300, 1, 1e-6},
		{3, 0.0213, 1878, 2, 1e-5},
		{3, 0.0213, 1878, 0.05, 1e-5},
		{3, 0.5, 10, 30, 1e-9},
		{3, 1, 1, 0.3, 0.2},
	}) {
		p := plan{rate: c.rate, steps: c.steps, mean: 15, q: 0.1, variant: c.variant}
		evaluations := 0
		event := func(noise float64) Event {
			evaluations++
			return p.withNoise(noise)
		}
		enough, err := CalibrateNoise(c.epsilon, c.delta, Options{Mode: Tight}, event)
		if err != nil {
			t.Fatal(err)
		}
		evaluations = 0
		noise, ok := secantNoise(c.epsilon, c.delta, Options{}, enough, event)
		if !ok || evaluations > 8 {
			t.Errorf("%+v: found %t, after %d evaluations", c, ok, evaluations)
			continue
		}
		smallestNoise(t, p, noise, c.epsilon, c.delta)
	}
}

// No less noise than a calibration finds is enough in mode Best either. At the first two settings groups of levels once
// changed along the noise, so that 1e-3 less noise was enough.
func TestCalibratedNoiseIsTheSmallest(t *testing.T) {
	for _, c := range Every(5, []struct {
		plan           plan
		epsilon, delta float64
	}{
		{plan{rate: 0.0213, steps: 1878, mean: 15, q: 0.1, variant: 2}, 1, 1e-5},
		{plan{rate: 0.0213, steps: 1878, mean: 15, q: 0.1, variant: 1}, 2, 1e-5},
		{plan{rate: 0.0213, steps: 1878, mean: 15, q: 0.1, variant: 1}, 4, 1e-5},
		{plan{rate: 0.082, steps: 755, mean: 16, q: 0.083, variant: 2}, 0.43, 3e-8},
		{plan{rate: 0.0078, steps: 4281, mean: 10.5, q: 0.42, variant: 1}, 7.9, 4e-7},
		{plan{rate: 0.12, steps: 149, mean: 18.7, q: 0.1, variant: 0}, 2.36, 1e-6},
	}) {
		noise, err := CalibrateNoise(c.epsilon, c.delta, Options{}, c.plan.withNoise)
		if err != nil {
			t.Fatal(err)
		}
		smallestNoise(t, c.plan, noise, c.epsilon, c.delta)
	}
}

// Calibration finds noise that secants don't find.
func TestNoiseThatSecantsDoNotFind(t *testing.T) {
	fixed := mustEpsilon(t, Gaussian{NoiseMultiplier: 2}, 1e-5, Options{})
	for name, c := range map[string]struct {
		epsilon, delta float64
		event          func(noise float64) Event
	}{
		"hardly falls": {fixed * 1.0001, 1e-5, func(noise float64) Event {
			return Composed{Events: []Event{Gaussian{NoiseMultiplier: 2}, Gaussian{NoiseMultiplier: noise}}}
		}},
		"free":    {1, 1e-5, func(noise float64) Event { return DPSGD(0, noise, 10) }},
		"delta 1": {1, 1, func(noise float64) Event { return Gaussian{NoiseMultiplier: noise} }},
	} {
		if noise, ok := secantNoise(c.epsilon, c.delta, Options{}, 400, c.event); ok {
			t.Errorf("%s: secants find %v", name, noise)
		}
		noise, err := CalibrateNoise(c.epsilon, c.delta, Options{}, c.event)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e := mustEpsilon(t, c.event(noise), c.delta, Options{}); e > c.epsilon {
			t.Errorf("%s: noise %v costs %v", name, noise, e)
		}
		if noise > 0 && mustEpsilon(t, c.event(noise*(1-1e-6)), c.delta, Options{}) <= c.epsilon {
			t.Errorf("%s: less noise than %v is enough", name, noise)
		}
	}
	for _, event := range []func(float64) Event{func(float64) Event { return nil }, func(noise float64) Event { return Gaussian{NoiseMultiplier: -noise} }} {
		if noise, ok := secantNoise(1, 1e-5, Options{}, 2, event); ok {
			t.Errorf("%#v: secants find %v", event(1), noise)
		}
	}
}
