// Package kernel holds the single-threaded float32 loops under the CPU engine: the matrix product,
// elementwise functions, reductions, the clipped sum's exact accumulator, convolution's patches and
// max pooling.
//
// Every kernel is defined by a plain Go function, its twin. On amd64 most have a faster form in
// assembly, for AVX2 with FMA and for AVX-512, chosen once at start-up by what the processor can do.
// A fast form returns the twin's bits: sums are defined by lanes (see [Dot]) rather than by whatever
// order a register width suggests, and nothing but [Gemm] and the transcendental functions fuses a
// multiplication with an addition. The exceptions are stated where they are:
//
//   - [Exp], [Tanh], [Sigmoid] and [Log] are defined by package math in float64, rounded once. The
//     fast forms are within the documented number of units in the last place, and the two register
//     widths agree bit for bit.
//   - [Gemm] depends on which of the three implementations the processor can run ([Implementation]).
//
// So a result never depends on a slice's alignment, on where in a slice an element stands, or on
// which goroutine computes it.
//
// NaN and infinities go where float32 arithmetic sends them. The payload and sign of a NaN are
// not specified.
//
// Functions panic when slices have the wrong lengths, naming the argument: that is a mistake in the
// caller's program, as an index out of range would be. An elementwise dst may be exactly a source
// (the same elements); slices that overlap in any other way give unspecified results.
package kernel
