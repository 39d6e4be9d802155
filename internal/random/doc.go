// Package random makes every random draw of a run from one ChaCha20 key. Call [NewKey] for a key and [Key.Stream] for
// the stream of draws with a given name.
//
// # Streams
//
// A draw is identified by a name; there is no generator with a state. The tuning subset, the number of trials, one
// trial's minibatch at one step and one trial's noise at one step each have a stream of their own: the ChaCha20
// keystream (RFC 8439) of the run's key and of a nonce that encodes purpose, trial and step. The block counter is the
// position within the stream. So any word of any stream is a function of (key, purpose, trial, step, index) alone, and
//   - a run resumes from its key and the number of the next step, and draws what it would have drawn;
//   - trials run in any order, on any worker, and draw the same;
//   - every engine draws the same; a GPU can compute each word in a thread of its own;
//   - a change in how one thing is drawn changes no other draw.
//
// Different IDs have different nonces, and a stream ends at the last value of its counter, so no part of a keystream is
// ever used twice. Without the key the streams look like independent uniform bits, as far as ChaCha20 is a pseudorandom
// function; the privacy of every run rests on that assumption.
//
// # Poisson samples
//
// A [Sampler] keeps each of many members with the same probability. It draws how many of a cell of members are kept,
// and then which, so that its time is that of the members kept. Its probabilities have 128 bits: its comment has the
// bound on what they leave out.
//
// # Normals
//
// Stream.Normals draws by Box and Muller's transform: a pair of words (w1, w2) becomes
//
//	u = (w1 + 1/2)·2^-64,  θ = 2π·w2·2^-64,  r = √(-2 ln u),  (z1, z2) = (r cos θ, r sin θ).
//
// Every normal takes one word: normal i of a stream comes from word i and its neighbour, and its time and position
// don't depend on its value. Logarithm, sine and cosine are polynomials with a fixed order of float64 operations
// (normals.go), so that every implementation gives the same bits: portable Go, the assembly for AVX2 and AVX-512 that
// is chosen at start-up by the processor's features, and GPU kernels.
//
// Samplers of Gaussian noise in floating point can't return every value, and this has leaked secrets: the secret
// determines which float64 values the noisy sum can have (Mironov, "On significance of the least significant bits for
// differential privacy", 2012; Jin, McMurtry, Rubinstein and Ohrimenko, "Are we there yet? Timing and floating-point
// attacks on differential privacy systems", 2022; Haney et al., "Precision-based attacks and interval refining", 2022).
// The defence has two halves. Package engine adds noise to sums on a grid on which addition is exact, and rounds the
// result to a coarser grid before any other code reads it. The other half is in this package: the errors of its
// normals are much smaller than the coarse grid's width, which is g in units of the noise's standard deviation.
//
//   - Tails. r is at most √(130 ln 2) = 9.49. An exact pair has a larger r with probability 2^-65.
//   - Density. The transform draws from 2^128 equally likely pairs of words, so that a double in the middle of the
//     distribution, such as those between 1 and 2, has some 2^73 preimages. u is exact near 0, and the angle is exact
//     near every axis: neighbouring radii are 2^-64·e^(r²/2)/r apart, or about 2^-53/r if that is more, which is 2^-40
//     at r = 6 and 2^-20 at r = 8; neighbouring angles are at most 2^-56 of a turn apart.
//   - Distance. Let u and θ be uniform real numbers, w1 and w2 the indices of the cells that hold them, z the computed
//     normal, and x the normal of u and θ without rounding. The mean of |z - x| is below 2^-53.5. At a point of radius
//     r it is, to first order, at most 2^-50·|z| + 2^-53/r + 2^-61·r + 2^-65·e^(r²/2)/r: the formulas' rounding, u's
//     rounding to a double, and the widths of θ's and u's cells.
//   - Total variation. z and x round to different multiples of g only where a boundary lies between them, which has
//     probability of about E|z - x|/g. So n rounded normals are within about n·2^-53.5/g of n rounded exact ones in
//     total variation.
//
// The tests check the accuracies that these bounds use against sums of series in 300 bits.
package random
