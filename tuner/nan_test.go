package tuner

import (
	"errors"
	"math"
	"testing"

	"github.com/dptrain/dptrain/accountant"
)

// A run that is not a number is refused, also where a trial is drawn from several.
func TestRunsThatAreNaN(t *testing.T) {
	for name, space := range map[string]Space{
		"grid of one": Grid{{SamplingRate: 0.1, Steps: 3, NoiseMultiplier: math.NaN()}},
		"grid of two": Grid{{SamplingRate: math.NaN(), Steps: 3, NoiseMultiplier: 1}, {SamplingRate: 0.1, Steps: 3, NoiseMultiplier: 1}},
		"all":         Grid{{SamplingRate: 0.1, Steps: 3, NoiseMultiplier: math.NaN()}, {SamplingRate: 0.1, Steps: 3, NoiseMultiplier: math.NaN()}},
		"region":      Region{SamplingRate: Values{List: []float64{0.1}}, Epochs: Values{List: []float64{1}}, Runs: []Run{{0.1, 10, math.NaN()}, {0.1, 20, 1}}},
	} {
		for _, m := range []Method{Baseline, Variant1, Variant2} {
			s := Settings{Method: m, SubsetRate: 0.1, Repetitions: accountant.Poisson{Mean: 3}, Space: space}
			if g, err := s.Guarantee(1e-5, accountant.Options{}); !errors.Is(err, accountant.ErrInvalid) {
				t.Errorf("%s, %s: epsilon %v, %v", name, m, g.Epsilon, err)
			}
		}
	}
}
