package random

import (
	"fmt"
	"math/bits"
)

// Float64 draws a uniform multiple of 2^-53 in [0, 1), from one word.
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) * 0x1p-53 }

// IntN draws a uniform integer in [0, n) without bias, by Lemire's multiplication with rejection ("Fast Random
// Integer Generation in an Interval", 2019). It panics if n < 1.
func (s *Stream) IntN(n int) int {
	if n < 1 {
		panic(fmt.Sprintf("random: IntN(%d): n must be at least 1", n))
	}
	bound := uint64(n)
	high, low := bits.Mul64(s.Uint64(), bound)
	for low < bound && low < -bound%bound {
		high, low = bits.Mul64(s.Uint64(), bound)
	}
	return int(high)
}

// BoxMuller fills dst with the normals of words, by pairs: [Stream.Normals] draws these words. Both have the same even
// length.
func BoxMuller(dst []float64, words []uint64) { boxMuller(dst, words) }

// Normals fills dst with independent standard normals. They come in pairs from pairs of words (normals.go), so Normals
// takes len(dst) words if len(dst) is even. If it is odd, Normals takes one word more and drops the second normal of
// the last pair.
func (s *Stream) Normals(dst []float64) {
	for len(dst) > 1 {
		s.load()
		words := s.buffer[s.next%groupWords:]
		if len(words) == 1 { // the pair's other word is in the next group
			dst[0], dst[1] = normalPair(s.Uint64(), s.Uint64())
			dst = dst[2:]
			continue
		}
		n := min(len(dst), len(words)) &^ 1
		boxMuller(dst[:n], words[:n])
		s.next += uint64(n)
		dst = dst[n:]
	}
	if len(dst) == 1 {
		dst[0], _ = normalPair(s.Uint64(), s.Uint64())
	}
}
