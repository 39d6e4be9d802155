// Package kernel holds the single-threaded float32 loops under the CPU engine: the matrix product, elementwise
// functions, reductions, the clipped sum's exact accumulator, convolution's patches and max pooling.
//
// A plain Go function, its twin, defines every kernel. On amd64 most kernels have a faster form in assembly, for AVX2
// with FMA and for AVX-512, which start-up chooses by what the processor can do. A fast form returns the twin's bits:
// sums are defined by lanes (see [Dot]) instead of an order that a register's width suggests, and only [Gemm] and the
// transcendental functions fuse a multiplication with an addition. There are two exceptions:
//
//   - [Exp], [Tanh], [Sigmoid] and [Log] are defined by package math in float64, rounded once. The
//     fast forms are within the documented number of units in the last place, and the two register
//     widths agree bit for bit.
//   - [Gemm] depends on which of the three implementations the processor can run ([Implementation]).
//
// So a result never depends on a slice's alignment, on an element's index in a slice, or on the goroutine that computes
// it.
//
// NaN and infinities propagate as in float32 arithmetic. The payload and sign of a NaN are unspecified.
//
// Functions panic when slices have the wrong lengths and name the argument: that is a fault of the caller, as an index
// out of range is. An elementwise dst may be exactly a source (the same elements); slices that overlap in any other way
// give unspecified results.
package kernel
