package tuner

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/accountant"
)

// Equal values of a list, and lists whose products share a run, count as often as they are drawn.
func TestChancesOfARegion(t *testing.T) {
	low, high := Run{0.1, 10, 1}, Run{0.2, 5, 2}
	for name, r := range map[string]Region{
		"rates":         {SamplingRate: Values{List: []float64{0.1, 0.1, 0.2, 0.1}}, Epochs: Values{List: []float64{1}}, Runs: []Run{low, high}},
		"rates, epochs": {SamplingRate: Values{List: []float64{0.1, 0.2, 0.1, 0.1}}, Epochs: Values{List: []float64{1, 1, 1}}, Runs: []Run{low, high}},
		"noise":         {SamplingRate: Values{List: []float64{0.1, 0.1, 0.1, 0.2}}, NoiseMultiplier: 1, Epochs: Values{List: []float64{1, 2}}, Runs: []Run{low, {0.2, 5, 1}}},
	} {
		if got := r.Chances(); !reflect.DeepEqual(got, []float64{0.75, 0.25}) {
			t.Errorf("%s: chances %v", name, got)
		}
		drawn, ok := r.trial().(accountant.OneOf)
		if !ok || drawn.Weights[0] != 3*drawn.Weights[1] {
			t.Errorf("%s: charged for %#v", name, r.trial())
		}
	}
}

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
