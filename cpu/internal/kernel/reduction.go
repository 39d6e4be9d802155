package kernel

import (
	"math"
	"slices"
)

// lanes is the number of partial sums in a reduction: four registers of AVX-512, eight of AVX2.
const lanes = 64

// Dot returns Σ a[i]·b[i]. The order of summation is part of the definition: element i is added, in
// ascending i, to partial sum i mod 64; then partial sum j gains partial sum j+32, then j+16, j+8, …,
// j+1. Products and sums are each rounded to float32.
func Dot(a, b []float32) float32 {
	checkLength("Dot", "b", len(b), len(a))
	return active.dot(a, b)
}

func dotPlain(a, b []float32) float32 {
	var s [lanes]float32
	for i := range a {
		s[i%lanes] += float32(a[i] * b[i])
	}
	return fold(&s)
}

// Sum returns Σ a[i], summed in the order that [Dot] documents.
func Sum(a []float32) float32 { return active.sum(a) }

func sumPlain(a []float32) float32 {
	var s [lanes]float32
	for i := range a {
		s[i%lanes] += a[i]
	}
	return fold(&s)
}

func fold(s *[lanes]float32) float32 {
	for width := lanes / 2; width > 0; width /= 2 {
		for j := range width {
			s[j] += s[j+width]
		}
	}
	return s[0]
}

// squaresBlock bounds how many squares are summed in float32: 32 in each lane.
const squaresBlock = 32 * lanes

// squaresLeast is the minimum sum of squares for float32 arithmetic. A square below float32's normal range is off by up
// to 2⁻¹⁵⁰, and relative to this sum of 2⁻⁸³ by less than 2⁻⁶⁶.
const squaresLeast = 1e-25

// SumSquares returns Σ a[i]². For up to 2³⁴ elements of any magnitude, even subnormal, the relative error is below
// 39·2⁻²⁴ < 2.4e-6. So the measured norm of a gradient is not below the true one by more than this. The sum is +Inf
// only if the squares in a block of 2048 elements add up to more than a float32 holds: one element above 1.8e19 in
// magnitude is enough.
//
// Blocks are summed in float32 in the order that [Dot] documents, and the blocks' sums in float64: an element meets one
// rounding when squared, 31 in a lane and 6 when lanes are folded; the rest of the bound covers second-order terms, the
// sum of the blocks and underflow. If the sum is so small that underflow could show, it is computed again in float64,
// where squares are exact.
func SumSquares(a []float32) float64 {
	var total float64
	for block := range slices.Chunk(a, squaresBlock) {
		total += float64(active.dot(block, block))
	}
	if total < squaresLeast {
		return sumSquares64(a)
	}
	return total
}

func sumSquares64(a []float32) float64 {
	var total float64
	for _, x := range a {
		total += float64(x) * float64(x)
	}
	return total
}

// maximumPlain returns the largest element, NaN if any element is NaN, and −Inf for no elements. It may return either
// zero if both occur.
func maximumPlain(a []float32) float32 {
	largest := float32(math.Inf(-1))
	for _, x := range a {
		largest = max(largest, x)
	}
	return largest
}

// maxAbsPlain returns the largest magnitude, NaN if any element is NaN, and 0 for no elements.
func maxAbsPlain(a []float32) float32 {
	largest := uint32(0)
	for _, x := range a {
		largest = max(largest, math.Float32bits(x)&^(1<<31))
	}
	return math.Float32frombits(largest)
}
