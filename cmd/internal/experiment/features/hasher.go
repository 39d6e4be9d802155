package features

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// hasher hashes lists of values, so that different lists never hash the same bytes.
type hasher struct{ hash.Hash }

func newHasher() hasher { return hasher{sha256.New()} }

func (h hasher) sum() [sha256.Size]byte { return [sha256.Size]byte(h.Sum(nil)) }

func (h hasher) uint64(v uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, v)) }

func (h hasher) text(s string) {
	h.uint64(uint64(len(s)))
	h.Write([]byte(s))
}

func (h hasher) floats(values []float32) {
	h.uint64(uint64(len(values)))
	_ = binary.Write(h, binary.LittleEndian, values) // a hash takes everything
}
