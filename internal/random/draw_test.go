package random

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
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

// A member is kept if and only if its own word is below floor(p·2^64).
func TestBernoulliIsAThreshold(t *testing.T) {
	check := func(t *rapid.T) {
		p := rapid.OneOf(
			rapid.Float64Range(0, 1),
			rapid.SampledFrom([]float64{0, 0x1p-1074, 0x1p-65, 0x1p-64, 0x1p-63, 0.5, 1 - 0x1p-53, 1}),
		).Draw(t, "p")
		n := rapid.IntRange(0, 3*groupWords).Draw(t, "n")
		first := rapid.Uint64Range(0, 1000).Draw(t, "first")
		members := make([]int32, n)
		for i := range members {
			members[i] = int32(7 * i)
		}
		exact := new(big.Float).SetPrec(2000).SetMantExp(big.NewFloat(p), 64)
		threshold, _ := exact.Int(nil)

		want := []int32{-5}
		words := InsecureKey(5).Stream(ID{Purpose: Minibatch})
		words.Seek(first)
		for _, m := range members {
			if new(big.Int).SetUint64(words.Uint64()).Cmp(threshold) < 0 {
				want = append(want, m)
			}
		}
		s := InsecureKey(5).Stream(ID{Purpose: Minibatch})
		s.Seek(first)
		got := s.Bernoulli(p, members, []int32{-5})
		if !slices.Equal(got, want) {
			t.Fatalf("Bernoulli(%v) of %d members kept %v, want %v", p, n, got, want)
		}
		if s.next != words.next {
			t.Fatalf("Bernoulli of %d members used %d words", n, s.next-first)
		}
	}
	eachImplementation(t, func(t *testing.T) { rapid.Check(t, check) })
}

// A word that equals the threshold isn't kept. Such a p exists for words with at most 53 bits.
func TestBernoulliAtTheThreshold(t *testing.T) {
	s := InsecureKey(5).Stream(ID{Purpose: Minibatch})
	word := s.Uint64()
	for word%(1<<11) != 0 {
		word = s.Uint64()
	}
	at := s.next - 1
	p := float64(word) * 0x1p-64
	for _, test := range []struct {
		p    float64
		kept int
	}{{p, 0}, {math.Nextafter(p, 1), 1}} {
		s.Seek(at)
		if kept := s.Bernoulli(test.p, []int32{1}, nil); len(kept) != test.kept {
			t.Errorf("Bernoulli(%x) kept %d where the word is %#x, want %d", test.p, len(kept), word, test.kept)
		}
	}
}

func TestBernoulliRefuses(t *testing.T) {
	for _, p := range []float64{-0x1p-1074, 1 + 0x1p-52, math.NaN(), math.Inf(1)} {
		if !panics(func() { InsecureKey(5).Stream(ID{}).Bernoulli(p, nil, nil) }) {
			t.Errorf("Bernoulli(%v) didn't panic", p)
		}
	}
}

// The number kept is binomial. Falsely rejects with probability 6e-7 for each p.
func TestBernoulliCount(t *testing.T) {
	members := make([]int32, 1<<20)
	var kept []int32
	for _, p := range []float64{0.001, 0.01, 0.1, 0.5, 0.9} {
		s := InsecureKey(6).Stream(ID{Purpose: Minibatch})
		kept = s.Bernoulli(p, members, kept[:0])
		n := float64(len(members))
		if z := (float64(len(kept)) - n*p) / math.Sqrt(n*p*(1-p)); math.Abs(z) > 5 {
			t.Errorf("p = %v: kept %d, %.1f standard deviations off", p, len(kept), z)
		}
	}
}
