package accountant

import (
	"math"
	"testing"
)

var drawnFrom = []Repetitions{
	Poisson{0.3}, Poisson{1}, Poisson{15}, Poisson{60}, TruncatedPoisson{1e-9}, TruncatedPoisson{0.7}, TruncatedPoisson{27},
	TruncatedNegativeBinomial{1, 0.1}, TruncatedNegativeBinomial{1, 1}, TruncatedNegativeBinomial{0, 1e-3}, TruncatedNegativeBinomial{0, 0.9},
	TruncatedNegativeBinomial{0.5, 0.01}, TruncatedNegativeBinomial{-0.5, 0.01}, TruncatedNegativeBinomial{-0.9, 1e-3}, TruncatedNegativeBinomial{4, 0.05},
	Binomial{1, 0.3}, Binomial{2, 0.9}, Binomial{30, 0.5}, Binomial{99, 0.01},
}

func TestMissedIsTheSum(t *testing.T) {
	for _, r := range drawnFrom {
		for _, m := range []int{1, 2, 3, 9, 10, 72, 1000, 1 << 40} {
			want := 0.0
			for k, p := range probabilities(r) {
				want += p * math.Pow(1-1/float64(m), float64(k))
			}
			if got := Missed(r, m); math.Abs(got-want) > 1e-11*want {
				t.Errorf("%#v, %d candidates: %v, want %v", r, m, got, want)
			}
		}
	}
}

// TestMissedEnds: distributions at the ends of their range give a probability, and never NaN.
func TestMissedEnds(t *testing.T) {
	for _, r := range []Repetitions{
		Poisson{5e-324}, Poisson{1e300}, TruncatedPoisson{5e-324}, TruncatedPoisson{1e300}, TruncatedNegativeBinomial{-1 + 0x1p-53, 5e-324},
		TruncatedNegativeBinomial{0, 5e-324}, TruncatedNegativeBinomial{1e15, 1e-6}, TruncatedNegativeBinomial{1e300, 0.5}, TruncatedNegativeBinomial{-0.5, 1 - 0x1p-53},
		Binomial{1, 5e-324}, Binomial{2e6, 1}, Binomial{2e6, 5e-324}, Binomial{3, 1 - 0x1p-53},
	} {
		for _, m := range []int{1, 2, math.MaxInt} {
			if got := Missed(r, m); !(got >= 0 && got <= 1) {
				t.Errorf("%#v, %d candidates: %v", r, m, got)
			}
		}
		for _, m := range []int{0, -1} {
			if got := Missed(r, m); !math.IsNaN(got) {
				t.Errorf("%#v of %d candidates misses %v", r, m, got)
			}
		}
	}
}
