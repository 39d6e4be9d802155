package random

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Blocks anywhere in a stream, and in any order, are the words there, one by one; the stream goes on where it was.
func TestBlocks(t *testing.T) {
	id := ID{Purpose: GraphDraws, Trial: 3, Step: 70000}
	eachImplementation(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{0, 1, 2, 31, 32, 33, 64, 100} {
			indices := make([]uint32, n)
			for k := range indices {
				switch r.IntN(4) {
				case 0:
					indices[k] = math.MaxUint32 - uint32(r.IntN(3)) // the last blocks
				case 1:
					indices[k] = uint32(r.IntN(100))
				default:
					indices[k] = r.Uint32()
				}
			}
			s, one := InsecureKey(5).Stream(id), InsecureKey(5).Stream(id)
			s.Seek(700)
			one.Seek(700)
			s.Uint64()
			one.Uint64()
			after := one.Uint64()
			const guard = 0x123456789abcdef
			got := slices.Repeat([]uint64{guard}, n*BlockWords+2)
			s.Blocks(got[1:1+n*BlockWords], indices)
			if got[0] != guard || got[len(got)-1] != guard {
				t.Fatalf("%d blocks are written outside their slice", n)
			}
			for k, index := range indices {
				one.Seek(uint64(index) * 8)
				for i := range BlockWords {
					if want := one.Uint64(); got[1+k*BlockWords+i] != want {
						t.Fatalf("word %d of block %d, %d of %d, is %x, want %x", i, index, k, n, got[1+k*BlockWords+i], want)
					}
				}
			}
			if got := s.Uint64(); got != after {
				t.Errorf("after %d blocks the stream goes on with %x, want %x", n, got, after)
			}
		}
	})
}

func TestBlocksRefuses(t *testing.T) {
	defer func() {
		if got, want := fmt.Sprint(recover()), "random: Blocks: 9 words for 1 blocks"; got != want {
			t.Errorf("panicked with %q, want %q", got, want)
		}
	}()
	InsecureKey(1).Stream(ID{}).Blocks(make([]uint64, 9), make([]uint32, 1))
}

func BenchmarkBlocks(b *testing.B) {
	indices := make([]uint32, 1<<11)
	r := rand.New(rand.NewPCG(1, 2))
	for k := range indices {
		indices[k] = r.Uint32()
	}
	words := make([]uint64, len(indices)*BlockWords)
	s := InsecureKey(1).Stream(ID{})
	eachBenchmark(b, len(words), func() { s.Blocks(words, indices) })
}
