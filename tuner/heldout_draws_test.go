package tuner

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
)

// The subset has other draws than the held-out samples: with the same draws and rates it would have the same positions.
func TestSubsetIsDrawnByItself(t *testing.T) {
	s := heldOutSettings(Variant1, 3)
	s.HoldOut.Rate, s.SubsetRate = 0.2, 0.2
	p := mustPlan(t, s, 3).Private
	var positions []int32 // of the subset among those that aren't held out
	for i, sample := range remaining(upTo(1000), p.HeldOut) {
		if _, in := slices.BinarySearch(p.Subset, sample); in {
			positions = append(positions, int32(i))
		}
	}
	if slices.Equal(positions[:100], p.HeldOut[:100]) {
		t.Errorf("positions %v are drawn twice", positions)
	}
}

func upTo(n int32) (out []int32) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// The released score is in units of the nominal size, a tenth of 1,000: its interval follows from public numbers alone.
// Labels are coin flips, so nothing is cut at 0 or 1.
func TestReleasedIntervalIsPublic(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 6))
	samples, labels := make([]float32, 1000), make([]int32, 1000)
	for i := range samples {
		samples[i], labels[i] = float32(draw.NormFloat64()), int32(draw.IntN(2))
	}
	data, err := train.NewClassification(samples, labels, 2)
	if err != nil {
		t.Fatal(err)
	}
	s := heldOutSettings(Variant2, 1)
	s.HoldOut.Rate = 0.1
	h := mustRun(t, Executor{Engine: cpu.New(cpu.Options{Workers: 1}), Model: linear(), Data: data.Data, Test: data}, planWith(t, s, 1)).Released.HeldOut
	if want := 2 * 1.96 * math.Sqrt(0.25/100+4*4/2./100/100); math.Abs(h.Interval[1]-h.Interval[0]-want) > 1e-9 {
		t.Errorf("released %+v, want an interval of length %v", h, want)
	}
}

// If some samples of a unit were held out and others not, the unit would pay both costs.
func TestUnitsAreNotHeldOut(t *testing.T) {
	s := heldOutSettings(Variant1, 3)
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	s.RowsPerUnit = 2
	var wrong *train.SettingError
	if err := s.Validate(); !errors.As(err, &wrong) || wrong.Setting != "rows per unit" {
		t.Errorf("two rows per unit: %v", err)
	}
}

// A noisy score may be beyond the range of scores, and is a number.
func TestNoisyScoresHaveNoBounds(t *testing.T) {
	x := &execution{plan: Plan{Settings: heldOutSettings(Variant1, 3)}, metric: train.Accuracy}
	for score, want := range map[float64]bool{1.7: true, -0.4: true, 0.5: true, math.Inf(1): false, math.NaN(): false} {
		if got := x.scorable(score); got != want {
			t.Errorf("score %v is possible: %t", score, got)
		}
	}
}
