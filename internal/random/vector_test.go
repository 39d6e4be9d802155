package random

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func (v vectors) String() string {
	switch v {
	case avx2:
		return "AVX2"
	case avx512:
		return "AVX-512"
	}
	return "portable"
}

// eachImplementation runs f with every implementation that this machine has.
func eachImplementation(t *testing.T, f func(t *testing.T)) {
	defer func(v vectors) { active = v }(active)
	for v := portable; v <= widest(); v++ {
		active = v
		t.Run(v.String(), f)
	}
}

// edgeWords are words at which Box-Muller takes another path: conversions round differently above 2^53, u leaves [√½,
// √2) at √½·2^k, the angle changes its octant at multiples of 2^61.
func edgeWords() []uint64 {
	var words []uint64
	around := func(w uint64) { words = append(words, w-2, w-1, w, w+1, w+2) }
	for i := range 64 {
		around(1 << i)
		around(uint64(math.Ldexp(math.Sqrt2/2, i+1)))
	}
	for octant := range uint64(8) {
		around(octant << 61)
	}
	for _, shift := range []int{9, 10, 11, 12} { // halfway between doubles near 2^63 and 2^64
		around(1<<63 + 1<<shift)
		around(-(1 << shift))
	}
	slices.Sort(words)
	return slices.Compact(words)
}

func TestBoxMullerIsTheSameEverywhere(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, words []uint64) {
		want := make([]float64, len(words))
		boxMullerPortable(want, words)
		got := make([]float64, len(words))
		boxMuller(got, words)
		for i := range got {
			if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
				t.Fatalf("normal %d of words %#x, %#x is %x, want %x", i%2, words[i&^1], words[i|1], got[i], want[i])
			}
		}
	}
	eachImplementation(t, func(t *testing.T) {
		edges := edgeWords()
		pairs := make([]uint64, 0, 2*len(edges))
		for _, w1 := range edges {
			pairs = pairs[:0]
			for _, w2 := range edges {
				pairs = append(pairs, w1, w2)
			}
			check(t, pairs)
		}
		words := make([]uint64, 1<<21)
		InsecureKey(1).Stream(ID{}).uint64s(words)
		check(t, words)
		rapid.Check(t, func(t *rapid.T) {
			// rapid's integers are small or near powers of two more often than uniform words are.
			words := rapid.SliceOfN(rapid.Uint64(), 0, 80).Draw(t, "words")
			check(t, words[:len(words)&^1])
		})
	})
}

func TestNormalsStaysInside(t *testing.T) {
	const guard = 100 // no normal
	eachImplementation(t, func(t *testing.T) {
		for n := range groupWords + 40 {
			normals := slices.Repeat([]float64{guard}, n+2)
			InsecureKey(1).Stream(ID{}).Normals(normals[1 : n+1])
			if normals[0] != guard || normals[n+1] != guard {
				t.Fatalf("%d normals wrote outside their slice", n)
			}
			if slices.Contains(normals[1:n+1], guard) {
				t.Fatalf("%d normals left a part of their slice", n)
			}
		}
	})
}

// uint64s fills dst with the next len(dst) words.
func (s *Stream) uint64s(dst []uint64) {
	for len(dst) > 0 {
		var n int
		if whole := len(dst) / groupWords * groupWords; whole > 0 && s.next%groupWords == 0 {
			s.check(whole)
			keystream(dst[:whole], &s.state, uint32(s.next/blockWords))
			n = whole
		} else {
			s.load()
			n = copy(dst, s.buffer[s.next%groupWords:])
		}
		s.next += uint64(n)
		dst = dst[n:]
	}
}

func eachBenchmark(b *testing.B, each int, f func()) {
	defer func(v vectors) { active = v }(active)
	for v := portable; v <= widest(); v++ {
		active = v
		b.Run(v.String(), func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(each), "ns/draw")
		})
	}
}

// BenchmarkUint64s measures the keystream. With AVX-512 a word is at least 4.1 cycles: 976 additions, exclusive ors and
// rotations, and 64 moves, for 16 blocks, two in a cycle.
func BenchmarkUint64s(b *testing.B) {
	words := make([]uint64, 1<<14)
	s := InsecureKey(1).Stream(ID{})
	eachBenchmark(b, len(words), func() { s.Seek(0); s.uint64s(words) })
}

// BenchmarkBoxMuller measures normals of given words. With AVX-512 a normal is at least some 2.5 cycles: a division and
// a root, which one unit computes, for 16 of them.
func BenchmarkBoxMuller(b *testing.B) {
	words := make([]uint64, groupWords)
	InsecureKey(1).Stream(ID{}).uint64s(words)
	normals := make([]float64, len(words))
	eachBenchmark(b, len(words), func() { boxMuller(normals, words) })
}

func BenchmarkNormals(b *testing.B) {
	normals := make([]float64, 110_000) // about as many parameters as the MNIST CNN has
	s := InsecureKey(1).Stream(ID{})
	eachBenchmark(b, len(normals), func() { s.Seek(0); s.Normals(normals) })
}

// BenchmarkSample measures draws of a batch of 100 from more and more members, and of half of them.
func BenchmarkSample(b *testing.B) {
	for _, n := range []int{6_000, 60_000, 10_000_000} {
		members, from := make([]int32, n), InsecureKey(1).Stream(ID{})
		var kept []int32
		for _, rate := range []float64{100 / float64(n), 0.5} {
			s := SamplerOf(rate)
			b.Run(fmt.Sprintf("%d/%v", n, rate), func(b *testing.B) {
				for b.Loop() {
					kept = s.Sample(from, members, kept[:0])
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(kept)), "ns/kept")
			})
		}
	}
}
