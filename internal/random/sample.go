package random

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"sync"
)

// Bounds of a [Sampler]'s cells.
const (
	cellBlocks  = 8  // blocks of the stream that belong to a cell
	leastShift  = 3  // a cell has at least 8 members
	mostShift   = 30 // and at most 2³⁰
	meanOfCell  = 4  // of which at most so many are kept in the mean, unless it has 8
	halves      = 2 * (cellBlocks*blockWords - 2)
	firstHalves = 2 * (blockWords - 2) // of a cell's first block
)

// MostInCell bounds the members that a [Sampler] keeps of a cell of more than 64.
const MostInCell = 64

// Sampler draws Poisson samples: it keeps each member independently with the same probability. The time depends on how
// many members it keeps, and hardly on how many there are. Call [SamplerOf] for one. It is immutable.
//
// Members are divided into cells of 2^Shift, the last one filled up with imaginary members. Words 64i to 64i+63 of the
// stream belong to cell i. The first two, read as one number of 128 bits, decide how many of the cell are kept. This is
// a binomial number: c if Below[c-1] ≤ number < Below[c]. The halves of the other words, the upper one first, are
// positions in the cell by their uppermost Shift bits. The first different ones are kept, as many as were decided; or
// if that is more than half of the cell, all but the first different ones. After the last half, positions are 0, 1, ….
//
// A set of a given size is as likely as any other of that size. So the sample's distribution is the exact one up to the
// error of Below, in total variation at most 2⁻¹²² for each cell, and up to the probability, also below 2⁻¹²², that 124
// halves hold fewer different positions than are kept. The probability itself isn't rounded. Over 2⁴⁰ cells, more than
// any run draws, that is 2⁻⁸¹, and adds (1 + e^ε)·2⁻⁸¹ to delta.
type Sampler struct {
	Shift uint
	Below [][2]uint64 // by c: 2¹²⁸ times the probability of at most c of a cell, or one less: upper and lower half
	all   bool
}

var samplers sync.Map // by probability

// SamplerOf returns the sampler of a probability. It keeps what it computes, about a kilobyte, for later calls. It
// panics unless p is in [0, 1].
func SamplerOf(p float64) *Sampler {
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("random: SamplerOf(%v): the probability must be in [0, 1]", p))
	}
	if s, ok := samplers.Load(p); ok {
		return s.(*Sampler)
	}
	s := &Sampler{Shift: leastShift, all: p == 1}
	for s.Shift < mostShift && p*float64(int(2)<<s.Shift) <= meanOfCell {
		s.Shift++
	}
	s.Below = binomial(p, s.Shift)
	samplers.Store(p, s)
	return s
}

// binomial returns, for c = 0, 1, …, the probability of at most c successes in 2^shift trials, times 2¹²⁸, rounded
// down, until that rounds to 1 or c is all trials but one. 320 bits leave errors far below 2⁻¹²⁸.
func binomial(p float64, shift uint) (below [][2]uint64) {
	const precision = 320
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }
	fail := number(1)
	fail.Sub(fail, number(p))
	odds, term := number(0), new(big.Float).Copy(fail)
	if p < 1 {
		odds.Quo(number(p), fail)
	}
	for range shift {
		term.Mul(term, term)
	}
	most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))
	total := number(0)
	for c := range 1 << shift {
		total.Add(total, term)
		scaled, _ := new(big.Float).SetMantExp(total, 128).Int(nil)
		if scaled.Cmp(most) >= 0 {
			break
		}
		var words [16]byte
		scaled.FillBytes(words[:])
		below = append(below, [2]uint64{binary.BigEndian.Uint64(words[:8]), binary.BigEndian.Uint64(words[8:])})
		term.Mul(term, odds)
		term.Mul(term, number(float64(int(1)<<shift-c)))
		term.Quo(term, number(float64(c+1)))
	}
	return below
}

// Sample appends the members that it keeps to dst, in order, and returns the extended slice. It reads the stream's
// blocks, and doesn't move the stream.
func (s *Sampler) Sample(from *Stream, members, dst []int32) []int32 {
	if s.all {
		return append(dst, members...)
	}
	var words, more [groupWords]uint64
	var blocks [groupBlocks]uint32
	cells := (len(members) + 1<<s.Shift - 1) >> s.Shift
	for first := 0; first < cells; first += groupBlocks {
		n := min(groupBlocks, cells-first)
		for i := range n {
			blocks[i] = uint32((first + i) * cellBlocks)
		}
		from.Blocks(words[:n*blockWords], blocks[:n])
		for i := range n {
			begin := (first + i) << s.Shift
			cell := members[begin:min(begin+1<<s.Shift, len(members))]
			dst = s.sampleCell(from, blocks[i], (*[blockWords]uint64)(words[i*blockWords:]), &more, cell, dst)
		}
	}
	return dst
}

// sampleCell samples one cell, given the number and the words of its first block. It writes to more the words of other
// blocks, which few cells need.
func (s *Sampler) sampleCell(from *Stream, block uint32, words *[blockWords]uint64, more *[groupWords]uint64, members, dst []int32) []int32 {
	kept, size := s.count(words[0], words[1]), 1<<s.Shift
	others := 2*kept > size // the positions are those of the others
	n := kept
	if others {
		n = size - kept
	}
	var positions [MostInCell]int32 // ascending
	found := positions[:0]
	for h := 0; len(found) < n; h++ {
		var at int32
		switch {
		case h < firstHalves:
			at = half(words[2+h/2], h, s.Shift)
		case h < halves:
			if h == firstHalves {
				var rest [cellBlocks - 1]uint32
				for i := range rest {
					rest[i] = block + 1 + uint32(i)
				}
				from.Blocks(more[:len(rest)*blockWords], rest[:])
			}
			at = half(more[(h-firstHalves)/2], h, s.Shift)
		default:
			at = int32(h - halves)
		}
		if i, known := slices.BinarySearch(found, at); !known {
			found = slices.Insert(found, i, at)
		}
	}
	if !others {
		for _, at := range found {
			if int(at) < len(members) {
				dst = append(dst, members[at])
			}
		}
		return dst
	}
	for i, m := range members {
		if len(found) > 0 && int(found[0]) == i {
			found = found[1:]
		} else {
			dst = append(dst, m)
		}
	}
	return dst
}

// half returns the position that half h of a cell's words, the upper one of a word first, gives.
func half(word uint64, h int, shift uint) int32 {
	if h%2 == 0 {
		word >>= 32
	}
	return int32(uint32(word) >> (32 - shift))
}

// count returns the number that is kept of a cell, given its first two words.
func (s *Sampler) count(upper, lower uint64) int {
	for c, b := range s.Below {
		if upper < b[0] || upper == b[0] && lower < b[1] {
			return c
		}
	}
	return len(s.Below)
}
