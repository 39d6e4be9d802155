//go:build !purego

package random

import "golang.org/x/sys/cpu"

// widest returns the widest vectors that both the processor and the operating system support.
func widest() vectors {
	switch x := &cpu.X86; {
	case x.HasAVX512F && x.HasAVX512DQ:
		return avx512
	case x.HasAVX2 && x.HasFMA:
		return avx2
	}
	return portable
}

// keystream is keystreamPortable with the widest vectors, under the same contract.
func keystream(dst []uint64, state *[16]uint32, counter uint32) {
	groups := len(dst) / groupWords
	switch {
	case groups == 0:
	case active == avx512:
		keystreamAVX512(&dst[0], groups, state, counter, &consecutive)
	case active == avx2:
		keystreamAVX2(&dst[0], groups, state, counter, &consecutive)
	default:
		keystreamPortable(dst, state, counter)
	}
}

// consecutive is the lanes of blocks that follow each other.
var consecutive = func() (lanes [groupBlocks]uint32) {
	for i := range lanes {
		lanes[i] = uint32(i)
	}
	return lanes
}()

// blocksOf is blocksPortable with the widest vectors, under the same contract.
func blocksOf(dst *[groupWords]uint64, state *[16]uint32, indices *[groupBlocks]uint32) {
	switch active {
	case avx512:
		keystreamAVX512(&dst[0], 1, state, 0, indices)
	case avx2:
		keystreamAVX2(&dst[0], 1, state, 0, indices)
	default:
		blocksPortable(dst, state, indices)
	}
}

// boxMuller is boxMullerPortable with the widest vectors, to the last bit.
func boxMuller(dst []float64, words []uint64) {
	dst = dst[:len(words)]
	done := 0
	switch {
	case active == avx512 && len(words) >= 16:
		done = len(words) &^ 15
		boxMullerAVX512(&dst[0], &words[0], done, &coefficients)
	case active == avx2 && len(words) >= 8:
		done = len(words) &^ 7
		boxMullerAVX2(&dst[0], &words[0], done, &coefficients)
	}
	boxMullerPortable(dst[done:], words[done:])
}

// coefficients are the floating-point constants of normals.go as the assembly reads them: each fills a row of four
// lanes, because AVX2 can't repeat a memory operand in every lane. normals_amd64.s names the rows by offset.
var coefficients = rows(
	log0, log1, log2, log3, log4, log5, log6,
	sin0, sin1, sin2, sin3, sin4, sin5,
	cos0, cos1, cos2, cos3, cos4, cos5, cos6,
	twoLn2, twoPi, twoPiLo,
	0.5, 1, 4, 0x1p-66,
	// Subtracted from 2^52 + a biased exponent, this leaves the exponent of u, negated.
	0x1p52+1023+64,
	// The biases of AVX2's conversions from integers, unsigned and signed.
	0x1p84+0x1p52, 0x1p84+0x1p63+0x1p52,
)

func rows(values ...float64) (out [30][4]float64) {
	for i, v := range values {
		out[i] = [4]float64{v, v, v, v}
	}
	return out
}

// keystreamAVX512 makes groups of groupBlocks ChaCha20 blocks, at least one. Block i of a group has counter
// counter+lanes[i], and each group begins groupBlocks after the one before.
//
//go:noescape
func keystreamAVX512(dst *uint64, groups int, state *[16]uint32, counter uint32, lanes *[32]uint32)

// keystreamAVX2 makes groups of groupBlocks ChaCha20 blocks, at least one. Block i of a group has counter
// counter+lanes[i], and each group begins groupBlocks after the one before.
//
//go:noescape
func keystreamAVX2(dst *uint64, groups int, state *[16]uint32, counter uint32, lanes *[32]uint32)

// boxMullerAVX512 transforms n words, a multiple of 16 and not 0.
//
//go:noescape
func boxMullerAVX512(dst *float64, words *uint64, n int, c *[30][4]float64)

// boxMullerAVX2 transforms n words, a multiple of 8 and not 0.
//
//go:noescape
func boxMullerAVX2(dst *float64, words *uint64, n int, c *[30][4]float64)
