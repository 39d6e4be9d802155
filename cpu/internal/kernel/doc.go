// Package kernel holds the single-threaded float32 loops of the CPU engine: the matrix product, elementwise functions,
// reductions, exact sums of clipped gradients, rows of tables, convolution's patches and max pooling. The loops that
// release sums and move parameters compute in float64.
//
// A plain Go function, its twin, defines every kernel. On amd64 most kernels have faster forms in assembly, one for
// AVX2 with FMA and one for AVX-512. The program chooses among them at start-up by the processor's features. A fast
// form returns the twin's bits: the order of a sum is part of its definition (see [Dot]) and independent of the width
// of registers, and only [Gemm] and the transcendental functions fuse a multiplication with an addition. There are two
// exceptions:
//
//   - [Exp], [Tanh], [Sigmoid] and [Log] are defined by package math in float64, rounded once. The fast forms are
//     within the documented number of units in the last place, and the two register widths agree bit for bit.
//   - [Gemm] depends on which of the three implementations the processor can run ([Implementation]).
//
// So a result never depends on a slice's alignment, on an element's index in a slice, or on the goroutine that computes
// it.
//
// NaN and infinities propagate as in float32 arithmetic. The payload and sign of a NaN are unspecified.
//
// If a slice has the wrong length, functions panic and name the argument, since this is a caller's error, like an index
// out of range. An elementwise dst may be exactly a source (the same elements); slices that overlap in any other way
// give unspecified results.
package kernel
