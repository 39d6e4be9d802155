//go:build !amd64 || purego

package random

func widest() vectors { return portable }

func keystream(dst []uint64, state *[16]uint32, counter uint32) {
	keystreamPortable(dst, state, counter)
}

func blocksOf(dst *[groupWords]uint64, state *[16]uint32, indices *[groupBlocks]uint32) {
	blocksPortable(dst, state, indices)
}

func boxMuller(dst []float64, words []uint64) { boxMullerPortable(dst, words) }
