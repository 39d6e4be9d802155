package kernel

// Larger computes dst[i] = max(a[i], b[i]), which is NaN if one of them is, and 0 for 0 and −0.
func Larger(dst, a, b []float32) { binary("Larger", active.larger, dst, a, b) }

func largerPlain(dst, a, b []float32) {
	for i := range dst {
		dst[i] = max(a[i], b[i])
	}
}

// Smaller computes dst[i] = min(a[i], b[i]), which is NaN if one of them is, and −0 for 0 and −0.
func Smaller(dst, a, b []float32) { binary("Smaller", active.smaller, dst, a, b) }

func smallerPlain(dst, a, b []float32) {
	for i := range dst {
		dst[i] = min(a[i], b[i])
	}
}

// AtLeast computes dst[i] = 1 where a[i] ≥ b[i] and 0 elsewhere.
func AtLeast(dst, a, b []float32) { binary("AtLeast", active.atLeast, dst, a, b) }

func atLeastPlain(dst, a, b []float32) {
	for i := range dst {
		dst[i] = one(a[i] >= b[i])
	}
}

// LargerScalar computes dst[i] = max(a[i], s), as [Larger] does.
func LargerScalar(dst, a []float32, s float32) {
	scalar("LargerScalar", active.largerScalar, dst, a, s)
}

func largerScalarPlain(dst, a []float32, s float32) {
	for i := range dst {
		dst[i] = max(a[i], s)
	}
}

// SmallerScalar computes dst[i] = min(a[i], s), as [Smaller] does.
func SmallerScalar(dst, a []float32, s float32) {
	scalar("SmallerScalar", active.smallerScalar, dst, a, s)
}

func smallerScalarPlain(dst, a []float32, s float32) {
	for i := range dst {
		dst[i] = min(a[i], s)
	}
}

// AtLeastScalar computes dst[i] = 1 where a[i] ≥ s and 0 elsewhere.
func AtLeastScalar(dst, a []float32, s float32) {
	scalar("AtLeastScalar", active.atLeastScalar, dst, a, s)
}

func atLeastScalarPlain(dst, a []float32, s float32) {
	for i := range dst {
		dst[i] = one(a[i] >= s)
	}
}

// AtMostScalar computes dst[i] = 1 where a[i] ≤ s and 0 elsewhere.
func AtMostScalar(dst, a []float32, s float32) {
	scalar("AtMostScalar", active.atMostScalar, dst, a, s)
}

func atMostScalarPlain(dst, a []float32, s float32) {
	for i := range dst {
		dst[i] = one(a[i] <= s)
	}
}

func one(is bool) float32 {
	if is {
		return 1
	}
	return 0
}
