package tuner

import (
	"errors"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/long"
	"github.com/dptrain/dptrain/train"
)

// Settings with units of three rows meet their budget, with more noise than settings with units of one row.
func TestCalibrateUnits(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	o := accountant.Options{Mode: accountant.Tight} // the event is the same in mode best, which takes longest
	s := Settings{
		Method: Variant1, SubsetRate: 0.1, Repetitions: accountant.Poisson{Mean: 5}, Optimizer: train.SGD(0), Samples: 1000,
		Space: LearningRates(Candidate{SamplingRate: 0.05, Steps: 60, ClippingNorm: 1}, 0.1, 1),
	}
	noise := map[int]float64{}
	for _, rows := range []int{0, 1, 3} {
		s.RowsPerUnit = rows
		calibrated, g, err := Calibrate(s, 3, 1e-5, o)
		if err != nil || !(g.Epsilon <= 3) || calibrated.Validate() != nil {
			t.Fatalf("%d rows: %+v, %v, %v", rows, g, err, calibrated.Validate())
		}
		noise[rows] = calibrated.Space.(Grid)[0].NoiseMultiplier
		alone, err := accountant.Epsilon(accountant.GroupOf{Event: accountant.Variant1(0.1, s.Repetitions, accountant.MaxOver{Events: []accountant.Event{accountant.DPSGD(0.05, noise[rows], 60)}}), Size: max(rows, 1)}, 1e-5, o)
		if err != nil || alone.Epsilon < g.Epsilon*(1-1e-6) || alone.Epsilon > g.Epsilon*(1+1e-6) {
			t.Errorf("%d rows: epsilon %v, and %v, %v by their event", rows, g.Epsilon, alone.Epsilon, err)
		}
	}
	if noise[0] != noise[1] || noise[3] < 1.5*noise[1] {
		t.Errorf("noise by rows: %v", noise)
	}
	s.RowsPerUnit = -1
	if _, err := s.Guarantee(1e-5, accountant.Options{}); !errors.Is(err, accountant.ErrInvalid) {
		t.Errorf("-1 rows: error %v", err)
	}
}
