package accountant

import (
	"fmt"
	"testing"
)

// The budgets: one epsilon of a whole variant 1 plan under 1 ms, a calibration of the noise multiplier under 50 ms in
// the Rényi modes; in mode best an epsilon under 0.2 s and a calibration under 1 s; all on one core.

func BenchmarkEpsilon(b *testing.B) {
	base, k := DPSGD(0.0213, 2, 1878), Poisson{Mean: 15}
	for _, c := range []struct {
		name  string
		event Event
		modes []Mode
		o     Options
	}{
		{"run", base, []Mode{Paper, Best}, Options{}},
		{"baseline", Baseline(k, base), []Mode{Best}, Options{}},
		{"variant 1", Variant1(0.1, k, base), []Mode{Paper, Tight, Best}, Options{}},
		{"variant 1, orders to 1024", Variant1(0.1, k, base), []Mode{Paper}, Options{Orders: Orders{Low: 2, High: 1024}}},
		{"variant 2", Variant2(0.1, k, base), []Mode{Best}, Options{}},
		{"a random search below a line", Variant1(0.1, k, RDPLine{Slope: 0.02}), []Mode{Best}, Options{}},
	} {
		for _, c.o.Mode = range c.modes {
			b.Run(fmt.Sprint(c.name, "/", c.o.Mode), func(b *testing.B) {
				for b.Loop() {
					mustEpsilon(b, c.event, 1e-5, c.o)
				}
			})
		}
	}
}

func BenchmarkCalibration(b *testing.B) {
	for _, c := range []struct {
		variant, family int
		epsilon         float64
		mode            Mode
	}{
		{0, 2, 2, Best}, {1, 0, 2, Paper}, {1, 0, 2, Tight}, {3, 0, 2, Best},
		{1, 0, 1, Best}, {1, 0, 2, Best}, {1, 0, 4, Best}, {2, 0, 1, Best}, {2, 0, 2, Best}, {2, 0, 4, Best},
	} {
		p := plan{rate: 0.0213, steps: 1878, mean: 15, q: 0.1, variant: c.variant, family: c.family, shape: 1}
		b.Run(fmt.Sprintf("variant=%d/epsilon=%v/%s", c.variant, c.epsilon, c.mode), func(b *testing.B) {
			for b.Loop() {
				if _, err := CalibrateNoise(c.epsilon, 1e-5, Options{Mode: c.mode}, p.withNoise); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
