package float

import "math"

// Log returns the natural logarithm of x. math.Log reads a number below 2^-1022 as if it weren't subnormal on some
// processors (Go 1.26 on amd64: -709.1 for the smallest one, whose logarithm is -744.4), and deltas and rates may be
// that small.
func Log(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p60) - 60*math.Ln2
	}
	return math.Log(x)
}
