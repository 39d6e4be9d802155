package random

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestFloat64(t *testing.T) {
	s, words := InsecureKey(1).Stream(ID{}), InsecureKey(1).Stream(ID{})
	for range 1000 {
		want := math.Ldexp(float64(words.Uint64()>>11), -53)
		if got := s.Float64(); got != want || got < 0 || got >= 1 {
			t.Fatalf("Float64() = %v, want %v", got, want)
		}
	}
}

// A draw without rejection would be biased by a quarter for the larger n: of the words, 2 or 3 go to each value, by its
// remainder modulo 3. Falsely rejects with probability 1e-6 for each n.
func TestIntN(t *testing.T) {
	for _, n := range []int{1, 2, 6, 1000, math.MaxInt/4*3 + 3} {
		s := InsecureKey(2).Stream(ID{Trial: uint32(n)})
		cells := min(n, 6)
		counts := make([]float64, cells)
		const draws = 60_000
		for range draws {
			v := s.IntN(n)
			if v < 0 || v >= n {
				t.Fatalf("IntN(%d) = %d", n, v)
			}
			counts[v%cells]++
		}
		if n == 1000 { // 6 doesn't divide 1000
			continue
		}
		probabilities := slices.Repeat([]float64{1 / float64(cells)}, cells)
		if p := chiSquare(counts, probabilities); p < 1e-6 {
			t.Errorf("IntN(%d): counts %v, p-value %.1e", n, counts, p)
		}
	}
	for _, n := range []int{0, -1} {
		if !panics(func() { InsecureKey(2).Stream(ID{}).IntN(n) }) {
			t.Errorf("IntN(%d) didn't panic", n)
		}
	}
}

// chiSquare returns Pearson's p-value of counts against probabilities that sum to 1; it is 1 for a single cell.
func chiSquare(counts, probabilities []float64) float64 {
	total := 0.0
	for _, c := range counts {
		total += c
	}
	statistic := 0.0
	for i, c := range counts {
		expected := total * probabilities[i]
		statistic += (c - expected) * (c - expected) / expected
	}
	if len(counts) == 1 {
		return 1
	}
	return distuv.ChiSquared{K: float64(len(counts) - 1)}.Survival(statistic)
}
