package random

import "fmt"

// BlockWords is the number of words in a block of a stream.
const BlockWords = blockWords

// Blocks fills dst with the blocks of the given indices, in their order: block i is words i·BlockWords, …,
// (i+1)·BlockWords-1. It doesn't move the stream. It panics unless dst has BlockWords words for each index.
func (s *Stream) Blocks(dst []uint64, indices []uint32) {
	if len(dst) != len(indices)*blockWords {
		panic(fmt.Sprintf("random: Blocks: %d words for %d blocks", len(dst), len(indices)))
	}
	next := s.next
	for k, i := range indices {
		s.next = uint64(i) * blockWords
		s.uint64s(dst[k*blockWords:][:blockWords])
	}
	s.next = next
}
