package random

import "fmt"

// BlockWords is the number of words in a block of a stream.
const BlockWords = blockWords

// Blocks fills dst with the blocks of the given indices, in their order: block i is words i·BlockWords, …,
// (i+1)·BlockWords-1. It takes as long as drawing as many words in a row, and doesn't move the stream. It panics unless
// dst has BlockWords words for each index.
func (s *Stream) Blocks(dst []uint64, indices []uint32) {
	if len(dst) != len(indices)*blockWords {
		panic(fmt.Sprintf("random: Blocks: %d words for %d blocks", len(dst), len(indices)))
	}
	for ; len(indices) >= groupBlocks; indices, dst = indices[groupBlocks:], dst[groupWords:] {
		blocksOf((*[groupWords]uint64)(dst), &s.state, (*[groupBlocks]uint32)(indices))
	}
	if len(indices) > 0 {
		var lanes [groupBlocks]uint32
		copy(lanes[:], indices)
		s.held = 0 // the buffer holds these blocks now
		blocksOf(&s.buffer, &s.state, &lanes)
		copy(dst, s.buffer[:])
	}
}
