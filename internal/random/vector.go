package random

// vectors is the width of the vector instructions that draws use.
type vectors int

const (
	portable vectors = iota // Go alone
	avx2                    // amd64 with AVX2 and FMA
	avx512                  // amd64 with AVX-512 F and DQ
)

// active is the implementation in use, chosen at start-up; all give the same bits. Tests change it to compare them.
var active = widest()
