package random

// vectors is how wide the vector instructions are that draws use.
type vectors int

const (
	portable vectors = iota // none: Go alone
	avx2                    // amd64 with AVX2 and FMA
	avx512                  // amd64 with AVX-512 F and DQ
)

// active is the implementation in use, chosen at start-up; all give the same bits. Tests change it to compare them.
var active = widest()

func (v vectors) String() string {
	switch v {
	case avx2:
		return "AVX2"
	case avx512:
		return "AVX-512"
	}
	return "portable"
}
