package figure

import (
	"errors"
	"math"
	"testing"

	"github.com/dptrain/dptrain/accountant"
)

// By mpmath 1.3.0 with 50 digits, from the formula of the subsampled Gaussian mechanism at integer orders:
// T log1p(sum_{k=2..a} C(a,k) (1-g)^(a-k) g^k expm1(k(k-1)/(2 s^2))) / (a-1).
var rdpReference = []struct {
	rate, noise, steps, order, rdp float64
}{
	{0.01, 2, 5000, 2, 0.142010691621124},
	{0.01, 2, 5000, 12, 0.87941202513901},
	{0.01, 2, 5000, 24, 1.8317961378435},
	{0.01, 3, 7500, 12, 0.535325884765933},
	{0.01, 4, 10000, 24, 0.785248722156325},
	{0.02, 2, 5000, 2, 0.56801856764434},
	{0.02, 2, 5000, 24, 7.95166429277889},
	{0.02, 3, 7500, 24, 4.47023223859507},
	{0.02, 4, 10000, 12, 1.56816056446414},
}

func paperLines(t *testing.T) Lines {
	t.Helper()
	l, err := ComputeLines(PaperLines())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLinesAreThoseOfTheFormula(t *testing.T) {
	l := paperLines(t)
	rate, noise, steps := column(t, l, "sampling_rate"), column(t, l, "noise_multiplier"), column(t, l, "steps")
	order, rdp := column(t, l, "rdp_order"), column(t, l, "rdp")
	if len(rdp) != 2*3*23 {
		t.Fatalf("%d rows, want two panels of three curves over orders 2 to 24", len(rdp))
	}
	found, slope := 0, column(t, l, "slope")
	for i := range rdp {
		if slope[i]*order[i] < rdp[i]*(1-1e-14) || order[i] == 2 && slope[i] > 1.2*rdp[i]/2 {
			t.Errorf("a line of slope %v is no line to %v at order %v", slope[i], rdp[i], order[i])
		}
		for _, r := range rdpReference {
			if rate[i] == r.rate && noise[i] == r.noise && steps[i] == r.steps && order[i] == r.order {
				found++
				if !safe(rdp[i], r.rdp) {
					t.Errorf("%+v: got %.15g", r, rdp[i])
				}
			}
		}
	}
	if found != len(rdpReference) {
		t.Errorf("found %d of the %d reference points", found, len(rdpReference))
	}
}

func TestLineIsTheSmallestAboveTheCurve(t *testing.T) {
	s := PaperLines()
	l := paperLines(t)
	for i := range s.SamplingRates {
		for k := range s.Candidates {
			slack := math.Inf(1)
			for order := 2; order <= s.Order; order++ {
				slack = math.Min(slack, l.slopes[i][k]*float64(order)/l.curves[i][k][order]-1)
			}
			if math.Abs(slack) > 1e-14 {
				t.Errorf("panel %d, candidate %d: the line is above the curve by %v at least", i, k, slack)
			}
		}
	}
}

func TestLinesRefuseNonsense(t *testing.T) {
	for name, change := range map[string]func(*LinesSettings){
		"no panel":        func(s *LinesSettings) { s.SamplingRates = nil },
		"no candidate":    func(s *LinesSettings) { s.Candidates = nil },
		"five candidates": func(s *LinesSettings) { s.Candidates = make([]Candidate, 5) },
		"order 1":         func(s *LinesSettings) { s.Order = 1 },
		"huge order":      func(s *LinesSettings) { s.Order = accountant.MaxOrder + 1 },
		"gamma above 1":   func(s *LinesSettings) { s.SamplingRates[0] = 2 },
		"no noise":        func(s *LinesSettings) { s.Candidates[0].NoiseMultiplier = 0 },
		"negative steps":  func(s *LinesSettings) { s.Candidates[0].Steps = -1 },
	} {
		s := PaperLines()
		change(&s)
		if _, err := ComputeLines(s); !errors.Is(err, accountant.ErrInvalid) {
			t.Errorf("%s: error %v, want %v", name, err, accountant.ErrInvalid)
		}
	}
}
