package kernel

import "math"

// Dropout computes dst[i] = a[i]/keep if draw i is at most maximum, and 0 otherwise. Draw i is half of draws[i/2], the
// low half if i is even.
func Dropout(dst, a []float32, draws []uint64, maximum uint32, keep float32) {
	checkLength("Dropout", "a", len(a), len(dst))
	checkAtLeast("Dropout", "len(%s)", "draws", len(draws), (len(dst)+1)/2)
	active.dropout(dst, a, draws, maximum, keep)
}

func dropoutPlain(dst, a []float32, draws []uint64, maximum uint32, keep float32) {
	for i := range dst {
		bits := math.Float32bits(a[i] / keep)
		if uint32(draws[i/2]>>(i%2*32)) > maximum {
			bits = 0
		}
		dst[i] = math.Float32frombits(bits)
	}
}

// AddDropout adds the result of [Dropout] to dst.
func AddDropout(dst, a []float32, draws []uint64, maximum uint32, keep float32) {
	checkLength("AddDropout", "a", len(a), len(dst))
	checkAtLeast("AddDropout", "len(%s)", "draws", len(draws), (len(dst)+1)/2)
	active.addDropout(dst, a, draws, maximum, keep)
}

func addDropoutPlain(dst, a []float32, draws []uint64, maximum uint32, keep float32) {
	for i := range dst {
		v := float32(0)
		if uint32(draws[i/2]>>(i%2*32)) <= maximum {
			v = a[i] / keep
		}
		dst[i] += v
	}
}
