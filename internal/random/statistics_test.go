package random

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Every implementation gives the same bits (vector_test.go), so these tests use the fastest.

// Sums of powers and products of independent normals, each with its mean and variance by hand: the mean of z^k over n
// draws has variance (E z^2k - (E z^k)²)/n. Falsely rejects with probability 6e-7 for each of 8 statistics.
func TestNormalsMoments(t *testing.T) {
	const n = 1 << 22
	normals := make([]float64, n)
	InsecureKey(10).Stream(ID{Purpose: Noise}).Normals(normals)
	var first, second, third, fourth, inPair, nextPair, squares, first2 float64
	for i := 0; i+3 < n; i += 2 {
		a, b, c := normals[i], normals[i+1], normals[i+2]
		for _, z := range []float64{a, b} {
			first += z
			second += z * z
			third += z * z * z
			fourth += z * z * z * z
		}
		inPair += a * b
		nextPair += a * c
		squares += (a*a - 1) * (b*b - 1)
		first2 += a
	}
	draws, pairs := float64(n-2), float64(n/2-1)
	for name, z := range map[string]float64{
		"mean":                    first / math.Sqrt(draws),
		"second moment":           (second - draws) / math.Sqrt(2*draws),
		"third moment":            third / math.Sqrt(15*draws),
		"fourth moment":           (fourth - 3*draws) / math.Sqrt(96*draws),
		"product within a pair":   inPair / math.Sqrt(pairs),
		"product across pairs":    nextPair / math.Sqrt(pairs),
		"squares within a pair":   squares / math.Sqrt(4*pairs),
		"mean of a pair's firsts": first2 / math.Sqrt(pairs),
	} {
		if math.Abs(z) > 5 {
			t.Errorf("%s is %.1f standard deviations off", name, z)
		}
	}
}

// Kolmogorov and Smirnov's distance of n draws from the normal distribution function exceeds x/√n with probability
// 2 exp(-2x²) = 1e-6 at x = 2.693.
func TestNormalsKolmogorovSmirnov(t *testing.T) {
	const n = 1 << 19
	normals := make([]float64, n)
	InsecureKey(11).Stream(ID{Purpose: Noise}).Normals(normals)
	slices.Sort(normals)
	distance := 0.0
	for i, z := range normals {
		p := 0.5 * math.Erfc(-z/math.Sqrt2)
		distance = max(distance, p-float64(i)/n, float64(i+1)/n-p)
	}
	if x := distance * math.Sqrt(n); x > 2.693 {
		t.Errorf("scaled distance %.3f, want at most 2.693", x)
	}
}

// The numbers of normals beyond 3, 4 and 5 standard deviations, about 45,000, 1,060 and 9.6 on either side, are nearly
// Poisson. Falsely rejects with probability 2e-6 for each of 6 counts.
func TestNormalsTails(t *testing.T) {
	const n = 1 << 25
	var counts [2][3]float64
	s := InsecureKey(12).Stream(ID{Purpose: Noise})
	normals := make([]float64, 1<<12)
	for range n / len(normals) {
		s.Normals(normals)
		for _, z := range normals {
			if math.Abs(z) < 3 {
				continue
			}
			side := 0
			if z < 0 {
				side, z = 1, -z
			}
			for beyond := range 3 {
				if z >= float64(3+beyond) {
					counts[side][beyond]++
				}
			}
		}
	}
	for side, name := range []string{"above", "below"} {
		for beyond, count := range counts[side] {
			law := distuv.Poisson{Lambda: n * 0.5 * math.Erfc(float64(3+beyond)/math.Sqrt2)}
			if law.CDF(count) < 1e-6 || law.Survival(count-1) < 1e-6 {
				t.Errorf("%v normals are %s %d standard deviations, want about %.1f", count, name, 3+beyond, law.Lambda)
			}
		}
	}
}
