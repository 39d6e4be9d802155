package accountant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// sumOver is E f(K), summed up from the masses of K by their definition until too little is left to count.
func sumOver(r Repetitions, f func(k int) float64) float64 {
	var first int
	var ratio func(k int) float64 // P(K = k+1)/P(K = k)
	var mass float64
	switch r := r.(type) {
	case Poisson:
		mass, ratio = math.Exp(-r.Mean), func(k int) float64 { return r.Mean / float64(k+1) }
	case TruncatedPoisson:
		first, mass, ratio = 1, r.Rate/math.Expm1(r.Rate), func(k int) float64 { return r.Rate / float64(k+1) }
	case TruncatedNegativeBinomial:
		// Their weights, whatever their sum is, with weight 1 at k = 1.
		first, mass = 1, 1
		ratio = func(k int) float64 { return (1 - r.Success) * (float64(k) + r.Shape) / float64(k+1) }
	case Binomial:
		mass = math.Pow(1-r.Probability, float64(r.Trials))
		ratio = func(k int) float64 {
			return float64(r.Trials-k) / float64(k+1) * r.Probability / (1 - r.Probability)
		}
	}
	total, sum := 0.0, 0.0
	for k := first; k < 100 || mass > 1e-18*total; k++ {
		total += mass
		sum += mass * f(k)
		mass *= ratio(k)
	}
	return sum / total
}

var drawnFrom = []Repetitions{
	Poisson{0.3}, Poisson{1}, Poisson{15}, Poisson{60}, TruncatedPoisson{1e-9}, TruncatedPoisson{0.7}, TruncatedPoisson{27},
	TruncatedNegativeBinomial{1, 0.1}, TruncatedNegativeBinomial{1, 1}, TruncatedNegativeBinomial{0, 1e-3}, TruncatedNegativeBinomial{0, 0.9},
	TruncatedNegativeBinomial{0.5, 0.01}, TruncatedNegativeBinomial{-0.5, 0.01}, TruncatedNegativeBinomial{-0.9, 1e-3}, TruncatedNegativeBinomial{4, 0.05},
	Binomial{1, 0.3}, Binomial{2, 0.9}, Binomial{30, 0.5}, Binomial{99, 0.01},
}

func TestMissedIsTheSum(t *testing.T) {
	for _, r := range drawnFrom {
		for _, m := range []int{1, 2, 3, 9, 10, 72, 1000} {
			want := sumOver(r, func(k int) float64 { return math.Pow(1-1/float64(m), float64(k)) })
			if got := Missed(r, m); math.Abs(got-want) > 1e-11*want {
				t.Errorf("%#v, %d candidates: %v, want %v", r, m, got, want)
			}
		}
	}
}

func TestMissedClosedForms(t *testing.T) {
	for _, m := range []int{1, 2, 9, 1 << 40} {
		z := 1 - 1/float64(m)
		geometric := TruncatedNegativeBinomial{1, 0.05}
		for _, c := range []struct {
			r    Repetitions
			want float64
		}{
			{Poisson{15}, math.Exp(-15 / float64(m))},
			{Binomial{7, 0.4}, math.Pow(0.6+0.4*z, 7)},
			{Binomial{7, 1}, math.Pow(z, 7)},
			{TruncatedPoisson{3}, math.Expm1(3*z) / math.Expm1(3)},
			{geometric, 0.05 * z / (1 - 0.95*z)},
			{TruncatedNegativeBinomial{0, 0.2}, math.Log1p(-0.8*z) / math.Log(0.2)},
			{TruncatedNegativeBinomial{-0.5, 0.2}, (1 - math.Sqrt(1-0.8*z)) / (1 - math.Sqrt(0.2))},
			{TruncatedNegativeBinomial{7, 1}, z}, // always once
		} {
			if got := Missed(c.r, m); math.Abs(got-c.want) > 1e-12*c.want {
				t.Errorf("%#v, %d candidates: %v, want %v", c.r, m, got, c.want)
			}
		}
	}
	// The paper's 15 trials over nine rates.
	if got := Missed(Poisson{15}, 9); math.Abs(got-0.1889) > 1e-4 {
		t.Errorf("15 trials over nine rates: %v", got)
	}
}

// TestMissedEnds: at the ends of what distributions may be, a probability, and never NaN.
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
	}
}

// TestMissedIsWhatDrawsMiss draws K, and then K candidates. By Hoeffding's inequality a comparison fails falsely with a
// probability of at most 2 e^-36, and any of the nineteen with one below 1e-14.
func TestMissedIsWhatDrawsMiss(t *testing.T) {
	const draws = 40000
	tolerance := math.Sqrt(18. / draws)
	for i, r := range drawnFrom {
		t.Run(fmt.Sprintf("%T %d", r, i), func(t *testing.T) {
			source := rand.NewPCG(11, uint64(i))
			pick := rand.New(source)
			const candidates = 9
			missed := 0
			for range draws {
				found := false
				for range r.Draw(source) {
					found = found || pick.IntN(candidates) == 4
				}
				if !found {
					missed++
				}
			}
			if got, want := float64(missed)/draws, Missed(r, candidates); math.Abs(got-want) > tolerance {
				t.Errorf("missed in %v of all cases, want %v within %v", got, want, tolerance)
			}
		})
	}
}

func TestMissedOfNoCandidates(t *testing.T) {
	for _, r := range []Repetitions{Poisson{Mean: 3}, TruncatedPoisson{Rate: 2}, TruncatedNegativeBinomial{Shape: 1, Success: 0.5}, Binomial{3, 0.5}} {
		for _, candidates := range []int{0, -1} {
			if missed := Missed(r, candidates); !math.IsNaN(missed) {
				t.Errorf("%#v of %d candidates misses %v", r, candidates, missed)
			}
		}
	}
}
