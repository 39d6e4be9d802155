package random

import (
	"encoding/binary"
	"fmt"
)

const (
	blockWords  = 8  // 64-bit words in a ChaCha20 block
	groupBlocks = 32 // blocks computed together: as many as the widest vectors' registers hold
	groupWords  = groupBlocks * blockWords
	streamWords = blockWords << 32 // the block counter has 32 bits: 256 GiB
)

// Stream is the ChaCha20 keystream (RFC 8439) of one key and nonce from block 0 on, read as little-endian 64-bit words.
// It holds 2^35 of them, far more than one step uses. Drawing beyond the last word is a programming error and panics,
// since the block counter would wrap around and the noise would repeat.
//
// A Stream implements math/rand/v2.Source. It isn't safe for concurrent use; make one for each goroutine instead.
type Stream struct {
	state  [16]uint32 // RFC 8439 section 2.3's initial state, its counter zero
	next   uint64     // index of the next word to draw
	held   uint64     // 1 + index of the group in buffer; 0 while there is none
	buffer [groupWords]uint64
}

// Stream returns the stream that id names under k, at its first word. It is so short that it is inlined, and a stream
// that stays in its caller's function is then no work for the garbage collector.
func (k Key) Stream(id ID) *Stream {
	s := new(Stream)
	s.open(&k, id)
	return s
}

func (s *Stream) open(k *Key, id ID) {
	copy(s.state[:], []uint32{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}) // "expand 32-byte k"
	for i := range 8 {
		s.state[4+i] = binary.LittleEndian.Uint32(k[4*i:])
	}
	nonce := id.nonce()
	for i := range 3 {
		s.state[13+i] = binary.LittleEndian.Uint32(nonce[4*i:])
	}
}

// Seek moves the stream to the word with the given index from the stream's beginning, in constant time. Seek may move
// beyond the end, but drawing there panics.
func (s *Stream) Seek(word uint64) { s.next = word }

// Uint64 draws one word.
func (s *Stream) Uint64() uint64 {
	s.load()
	w := s.buffer[s.next%groupWords]
	s.next++
	return w
}

// load fills the buffer with the group that holds the next word.
func (s *Stream) load() {
	group := s.next / groupWords
	if s.held == group+1 {
		return
	}
	s.check(1)
	keystream(s.buffer[:], &s.state, uint32(group*groupBlocks))
	s.held = group + 1
}

// check panics if fewer than n words are left.
func (s *Stream) check(n int) {
	if s.next > streamWords || uint64(n) > streamWords-s.next {
		panic(fmt.Sprintf("random: %d words at word %d: a stream ends at word %d", n, s.next, uint64(streamWords)))
	}
}

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
