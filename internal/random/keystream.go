package random

import (
	"encoding/binary"

	"golang.org/x/crypto/chacha20"
)

// keystreamPortable fills dst, whose length is a multiple of groupWords, with the blocks from counter on. The caller
// has checked that the counter doesn't wrap.
func keystreamPortable(dst []uint64, state *[16]uint32, counter uint32) {
	cipher := cipherOf(state)
	cipher.SetCounter(counter)
	var group [8 * groupWords]byte
	for ; len(dst) > 0; dst = dst[groupWords:] {
		clear(group[:])
		cipher.XORKeyStream(group[:], group[:])
		for i := range groupWords {
			dst[i] = binary.LittleEndian.Uint64(group[8*i:])
		}
	}
}

// blocksPortable fills dst with the blocks of the given indices.
func blocksPortable(dst *[groupWords]uint64, state *[16]uint32, indices *[groupBlocks]uint32) {
	for k, index := range indices {
		cipher := cipherOf(state) // whose counter can't go back
		cipher.SetCounter(index)
		var block [8 * blockWords]byte
		cipher.XORKeyStream(block[:], block[:])
		for i := range blockWords {
			dst[k*blockWords+i] = binary.LittleEndian.Uint64(block[8*i:])
		}
	}
}

// cipherOf returns the cipher of a state's key and nonce, at block 0.
func cipherOf(state *[16]uint32) *chacha20.Cipher {
	var key [chacha20.KeySize]byte
	for i, v := range state[4:12] {
		binary.LittleEndian.PutUint32(key[4*i:], v)
	}
	var nonce [chacha20.NonceSize]byte
	for i, v := range state[13:16] {
		binary.LittleEndian.PutUint32(nonce[4*i:], v)
	}
	cipher, err := chacha20.NewUnauthenticatedCipher(key[:], nonce[:])
	if err != nil {
		panic(err) // only for a wrong length of key or nonce; both are fixed above
	}
	return cipher
}
