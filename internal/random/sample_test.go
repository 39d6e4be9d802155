package random

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// bySlowRule samples as the comment on Sampler says, word by word: 128-bit numbers as big integers, sets as maps.
func bySlowRule(s *Sampler, key Key, id ID, members []int32) (kept []int32) {
	size := 1 << s.Shift
	for cell := 0; cell*size < len(members); cell++ {
		words := key.Stream(id)
		words.Seek(uint64(cell) * 64)
		number := new(big.Int).SetUint64(words.Uint64())
		number.Lsh(number, 64).Add(number, new(big.Int).SetUint64(words.Uint64()))
		n := 0
		for _, b := range s.Below {
			bound := new(big.Int).SetUint64(b[0])
			bound.Lsh(bound, 64).Add(bound, new(big.Int).SetUint64(b[1]))
			if number.Cmp(bound) >= 0 {
				n++
			}
		}
		var positions []int
		for range 62 {
			w := words.Uint64()
			positions = append(positions, int(w>>32)>>(32-s.Shift), int(w&(1<<32-1))>>(32-s.Shift))
		}
		for i := range size {
			if len(positions) > 300 {
				break
			}
			positions = append(positions, i)
		}
		want := n
		if 2*n > size {
			want = size - n
		}
		named := map[int]bool{}
		for _, p := range positions {
			if len(named) < want {
				named[p] = true
			}
		}
		for i := range min(size, len(members)-cell*size) {
			if named[i] == (2*n <= size) {
				kept = append(kept, members[cell*size+i])
			}
		}
	}
	return kept
}

func TestSampleIsTheRule(t *testing.T) {
	all := make([]int32, 2_000)
	for i := range all {
		all[i] = int32(7*i + 1)
	}
	check := func(t *rapid.T) {
		p := rapid.OneOf(
			rapid.Float64Range(0, 1), rapid.Map(rapid.Float64Range(0, 40), func(x float64) float64 { return math.Exp2(-x) }),
			rapid.SampledFrom([]float64{0, 0x1p-1074, 0x1p-70, 1e-4, 0.25, 0.5, 0.75, 1 - 0x1p-53, 1}),
		).Draw(t, "p")
		n := rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(0, len(all))).Draw(t, "n")
		key, id := InsecureKey(rapid.Uint64().Draw(t, "seed")), ID{Purpose: Minibatch, Step: 3}
		s, from := SamplerOf(p), key.Stream(id)
		from.Seek(5)
		got := s.Sample(from, all[:n], []int32{-5})
		if want := append([]int32{-5}, bySlowRule(s, key, id, all[:n])...); !slices.Equal(got, want) {
			t.Fatalf("%v of %d members: %v, want %v", p, n, got, want)
		}
		if from.next != 5 {
			t.Fatal("the stream has moved")
		}
	}
	eachImplementation(t, func(t *testing.T) { rapid.Check(t, check) })
}

// The probabilities of a cell are exact to the last of 128 bits: against sums of binomial coefficients as fractions.
func TestSamplersProbabilities(t *testing.T) {
	for _, p := range []float64{0.5, 0.3, 1. / 3, 0.51, 0.9999, 1 - 0x1p-53, 0.25, 0.02} {
		s := SamplerOf(p)
		size := int64(1) << s.Shift
		yes, total := new(big.Rat).SetFloat64(p), new(big.Rat)
		no := new(big.Rat).Sub(big.NewRat(1, 1), yes)
		power := func(x *big.Rat, n int64) *big.Rat {
			e := big.NewInt(n)
			return new(big.Rat).SetFrac(new(big.Int).Exp(x.Num(), e, nil), new(big.Int).Exp(x.Denom(), e, nil))
		}
		for c := range min(int64(len(s.Below))+1, size) {
			term := new(big.Rat).SetInt(new(big.Int).Binomial(size, c))
			total.Add(total, term.Mul(term, power(yes, c)).Mul(term, power(no, size-c)))
			if c == int64(len(s.Below)) {
				break
			}
			b := s.Below[c]
			scaled := new(big.Int).Lsh(total.Num(), 128)
			scaled.Div(scaled, total.Denom())
			got := new(big.Int).SetUint64(b[0])
			if got.Lsh(got, 64).Add(got, new(big.Int).SetUint64(b[1])); got.Cmp(scaled) != 0 {
				t.Fatalf("at most %d of %d at %v: %x, want %x", c, size, p, got, scaled)
			}
		}
		left := new(big.Float).SetRat(total.Sub(big.NewRat(1, 1), total))
		if v, _ := left.Float64(); int64(len(s.Below)) < size && v > 0x1p-127 {
			t.Errorf("more than %d of %d at %v have probability %v", len(s.Below), size, p, v)
		}
	}
}

// The package comment's bounds: no cell keeps more than MostInCell by positions, and the halves are enough, both for
// any probability. A union bound over sets of one position less than are wanted.
func TestSamplersBounds(t *testing.T) {
	for shift := uint(leastShift); shift <= mostShift; shift++ {
		size := float64(int(1) << shift)
		for _, mean := range []float64{2, 3, 4, 5, 6, 7, 7.99} {
			if mean > meanOfCell && shift > leastShift {
				continue
			}
			s := SamplerOf(mean / size)
			if s.Shift != shift && !(s.Shift == shift+1 && mean <= 2) {
				t.Fatalf("cells of 2^%d for a mean of %v of 2^%d", s.Shift, mean, shift)
			}
			if len(s.Below) > MostInCell {
				t.Errorf("%d may be kept of a cell of 2^%d", len(s.Below), s.Shift)
			}
			size := float64(int(1) << s.Shift)
			short := 0.0
			for c := range len(s.Below) + 1 {
				k := min(float64(c), size-float64(c))
				if k < 2 {
					continue
				}
				log := distuv.Binomial{N: size, P: mean / float64(int(1)<<shift)}.LogProb(float64(c)) / math.Ln2
				a, _ := math.Lgamma(size + 1)
				b, _ := math.Lgamma(k)
				d, _ := math.Lgamma(size - k + 2)
				short += math.Exp2(log + min(0, (a-b-d)/math.Ln2+halves*math.Log2((k-1)/size)))
			}
			if short > 0x1p-122 {
				t.Errorf("cells of 2^%d, mean %v: halves don't suffice with probability 2^%.0f", s.Shift, mean, math.Log2(short))
			}
		}
	}
}

// Each member is kept as often as it should be, pairs as independently, and numbers are binomial. Falsely rejects with
// probability 1e-6 for each of some 30 statistics.
func TestSampleIsPoissonSampling(t *testing.T) {
	const draws = 20_000
	for _, p := range []float64{0.003, 0.07, 0.4, 0.5, 0.7, 0.97} {
		s := SamplerOf(p)
		n := min(3*(1<<s.Shift)-2, 700) // the last cell isn't whole
		members := make([]int32, n)
		for i := range members {
			members[i] = int32(i)
		}
		each, pairs, numbers := make([]float64, n), make([]float64, 4), make([]float64, n+1)
		var kept []int32
		for step := range uint32(draws) {
			kept = s.Sample(InsecureKey(12).Stream(ID{Purpose: Minibatch, Step: step}), members, kept[:0])
			numbers[len(kept)]++
			has := map[int32]bool{}
			for _, m := range kept {
				each[m]++
				has[m] = true
			}
			for k, pair := range [][2]int32{{0, 1}, {2, 7}, {3, int32(n - 1)}, {int32(n - 2), int32(n - 1)}} {
				if has[pair[0]] && has[pair[1]] {
					pairs[k]++
				}
			}
		}
		total := 0.0
		for _, c := range each {
			z := (c - draws*p) / math.Sqrt(draws*p*(1-p))
			total += z * z
		}
		if z := (total - float64(n)) / math.Sqrt(2*float64(n)); math.Abs(z) > 6 {
			t.Errorf("p = %v: frequencies of members are %.1f standard deviations off", p, z)
		}
		for k, c := range pairs {
			if z := (c - draws*p*p) / math.Sqrt(draws*p*p*(1-p*p)); math.Abs(z) > 5 {
				t.Errorf("p = %v: pair %d is kept %.1f standard deviations too often", p, k, z)
			}
		}
		var counts, probabilities []float64
		binomial := distuv.Binomial{N: float64(n), P: p}
		for c, mass, seen := 0, 0.0, 0.0; c <= n; c++ {
			mass, seen = mass+binomial.Prob(float64(c)), seen+numbers[c]
			if mass*draws > 50 || c == n {
				counts, probabilities = append(counts, seen), append(probabilities, mass)
				mass, seen = 0, 0
			}
		}
		if v := chiSquare(counts, probabilities); v < 1e-6 {
			t.Errorf("p = %v: numbers aren't binomial, p-value %.1e", p, v)
		}
	}
}

func TestSamplerRefuses(t *testing.T) {
	for _, p := range []float64{-0x1p-1074, 1 + 0x1p-52, math.NaN(), math.Inf(1)} {
		if !panics(func() { SamplerOf(p) }) {
			t.Errorf("SamplerOf(%v) didn't panic", p)
		}
	}
}

// Sampling again allocates nothing, but for the ciphers of the portable keystream.
func TestSampleAllocates(t *testing.T) {
	if widest() == portable {
		t.Skip("no vectors")
	}
	members, kept := make([]int32, 10_000), make([]int32, 0, 10_000)
	for _, p := range []float64{0.001, 0.3, 0.9} {
		s, from := SamplerOf(p), InsecureKey(1).Stream(ID{})
		if n := testing.AllocsPerRun(100, func() { kept = s.Sample(from, members, kept[:0]) }); n > 0 {
			t.Errorf("p = %v: %v allocations", p, n)
		}
	}
}

// A number of 128 bits that equals a bound is above it.
func TestSamplerCounts(t *testing.T) {
	s := SamplerOf(0.3)
	for c, b := range s.Below {
		for _, v := range []struct {
			upper, lower uint64
			want         int
		}{{b[0], b[1], c + 1}, {b[0], b[1] - 1, c}, {b[0], 0, c}, {b[0] - 1, 1<<64 - 1, c}, {b[0], 1<<64 - 1, c + 1}} {
			if got := s.count(v.upper, v.lower); got != v.want {
				t.Errorf("%x, %x: %d, want %d", v.upper, v.lower, got, v.want)
			}
		}
	}
	if got := s.count(1<<64-1, 1<<64-1); got != len(s.Below) {
		t.Errorf("the largest number gives %d of %d", got, len(s.Below))
	}
}
