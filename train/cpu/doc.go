// Package cpu is the engine that every other engine is measured against: it runs step programs on the
// cores of this machine.
//
// # How a step is computed
//
// The samples of a batch go through the whole program in blocks, small enough that a block's buffers
// stay in a core's cache, and blocks are handed to workers in chunks: a chunk is what was drawn from a
// fixed range of places in the data set, 32 samples or so. What a chunk computes depends on its samples
// and nothing else.
//
// # Why the result doesn't depend on the number of workers
//
// Floating-point addition isn't associative, so adding chunks in the order in which workers finish
// would make two runs differ. Each chunk's clipped sum is therefore rounded once to multiples of a grid
// g, a power of two chosen so that every sum of a step is below 2⁵¹ g; in float64 such sums are exact
// and may be taken in any order. g depends on the clipping norm, the noise and the public size of the
// data only.
//
// # Noise
//
// The same grid answers the attacks on floating-point Gaussian noise (Mironov, "On significance of the
// least significant bits for differential privacy", 2012; Jin et al., "Are we there yet?", 2022; Haney et
// al., "Precision-based attacks and interval refining", 2022), which read off low-order bits which
// outputs a sampler can't reach given the true sum. Here
//
//  1. the clipped sum is an exact multiple of g,
//  2. the noise, a Gaussian with more than 53 bits of resolution near zero, is rounded to g too, and the
//     sum of both is exact,
//  3. before anything else sees it, the result is rounded to a coarse grid of about 2⁻⁶ of the noise's
//     standard deviation. That is post-processing: it costs no privacy, and adds 2·10⁻⁵ to the noise's
//     variance. Each of its cells collects so many of the noise's values that their gaps show in no
//     output: neighbouring data sets reach the same outputs, and a cell's probability differs from
//     that of exact Gaussian noise by a relative 2⁻⁴³(|z|+1) or so (package random), to first order.
//     Over 2³⁰ draws, a whole tuning run of the largest model here, such errors add up to less than
//     a thousandth in epsilon even if all of them conspired.
//
// # What rounding does to the sensitivity
//
// A sample that joins or leaves a data set of a given number of places changes the rounding in its own
// chunk alone. Over a chunk of m samples the float32 sums err by at most m²uC in norm (u = 2⁻²⁴), in either
// data set; rounding to g adds next to nothing. Package train clips to C(1 − 2⁻¹⁰) while the noise is for
// C, which covers 2m²u up to m = 88. A chunk expects 32 samples of the whole data set, of a random subset
// or of its rest, so that more than 88 have probability 1e-16, and never more than 48 of any other
// members, so that they have 1e-7. Errors met in practice are a thousandth of the bound.
//
// Norms are measured on the very numbers that are summed, and a sample whose norm is beyond single
// precision's reach contributes nothing.
//
// # When something panics
//
// A panic in a worker would end the process, past any recover of its caller, and print what may be a sample's values.
// It becomes an error of the step that names the function and nothing else. The run then takes no step until it is
// restored.
package cpu
