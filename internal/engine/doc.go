// Package engine is the contract between training and the devices that it runs on. Call [Engine].Load once for a
// program and its data, [Loaded].Start for any number of jobs, and [Runs].Steps to advance them side by side.
//
// The contract is plain Go code, which the CPU engine calls and a kernel repeats bit for bit. All arithmetic that
// privacy depends on is defined here, once; an engine only adds the computation of gradients.
//
// A [Job] is pure data. One logical step of it, at parameters θ, is
//
//	B = {i in Members : each kept independently with SamplingProbability}
//	S = Σ_{i∈B} min(1, c/‖g_i‖) g_i         g_i: gradient of sample i; not finite: contributes 0
//	G = (S + N(0, (σC)² I)) / ExpectedBatchSize
//	θ ← Optimizer(θ, G)
//
// In Go, after t steps, with the sum S that an engine has computed:
//
//	batch := job.Minibatch(t, members, nil)
//	job.Normals(t, 0, noise)                                  // for one parameter, as below
//	grid.Release(sum, noise, mechanism.NoiseDeviation(), mechanism.ExpectedBatchSize)
//	job.Optimizer.Update(t+1, params, first, second, noise)   // noise now holds the noisy mean gradient
//
// A job may move its parameters by a function of its own in place of the optimizer, which gets the same noisy mean,
// rounded to single precision: see [Job].Move.
//
// C is the clipping norm, for which the noise is made, and c, slightly less, is the norm that engines clip to
// ([Mechanism.ClipTo]). A step with an empty B still adds noise and updates. The divisor is the expected batch size,
// never |B|. With automatic clipping ([Mechanism].Automatic) the factor is c/(‖g_i‖ + 0.01) instead, for all sizes of
// gradients, and the noise covers the same sensitivity.
//
// # What engines promise
//
// Bit for bit, on every engine: the minibatch ([Job.Minibatch]) and the normals ([Job.Normals]) of a step, which depend
// on the key, a stream's name and a word's index and not on an engine's schedule; the layout of parameters ([Layout]);
// the grids and the release ([Grid]); the clip factor of a given squared norm ([ClipFactor]); the
// optimizer ([Optimizer.Update]).
//
// Within a tolerance that each engine states, unless partial sums overflow: gradients of samples, their norms, outputs.
//
// Bounded, never exceeded: the sensitivity of a step's computed sum S. One sample more or less in any batch changes S
// by at most C in L2 norm. Four rules ensure this bound, and package enginetest checks every engine against them:
//
//  1. A sample's computed gradient g depends on the sample, the parameters and what the step draws for the sample
//     alone, to the last bit: not on the other samples of its microbatch, tile or warp, nor on its index in the
//     batch, nor on the number of runs, workers or tiles.
//  2. Its norm is measured on the same numbers that are summed, to a relative 2⁻¹⁸ or better, for any size (sums in
//     single precision stagnate after some 10⁶ squares: add partial sums in double). A parameter's gradient is measured
//     as it is kept, whole or as two factors. Either's norm counts as infinite above 2⁶⁰, because single precision
//     can't hold more. No norm comes from Gram matrices: if rows nearly cancel, it would be rounding error.
//  3. The sample contributes to each coordinate once, a multiple of Fine next to a product: of the clip factor f and
//     the coordinate of g, or, if g is kept as two factors, x and δ, of an element of x and one of fδ, rounded to
//     single precision. Which of the two next to it depends on the sample, the parameters and the step alone: the
//     nearest, or the same side in all coordinates, by a coin. Then errors of many samples cancel, but for products far
//     below Fine, which count as half of it in the mean. A sample with factor 0 contributes nothing, NaN or not.
//  4. S is the sum of the batch's contributions, exactly.
//
// # Why the sum moves by at most C
//
// Removing a sample leaves an empty entry, so that all others keep their indices. So neighbours are data sets of the
// same size, and one has an empty entry where the other has a sample. The size is public.
//
// By rules 1 and 4 the sums over two batches that differ by one sample differ by that sample's contributions. These are
// within Fine of the products of rule 3, in each of d coordinates ([Layout].Size), and so within √d·Fine in norm.
// The products' norm is at most c(1 + 2⁻¹⁷): f‖g‖ is at most c up to the errors of the norm (rule 2) and of the factor
// and fδ, each of which single precision rounds once, by a relative 2⁻²⁴. Since c = (C − √d·Fine)/(1 + 2⁻¹⁶), a
// sample moves S by less than C.
//
// These are relative errors. A product fδ that underflows has an additional error of up to 2⁻¹⁵⁰. It is multiplied by
// an element of x, and the norm of x is at most 2⁶⁰ (rule 2), so that in norm this is at most 2⁻⁹⁰√d. The room that
// 2⁻¹⁶ leaves above 2⁻¹⁷ is more: at least 2⁻⁵⁷, because C is at least 10⁻¹² and [Job.Check] keeps √d·Fine below C/16,
// and so √d below 2¹⁸. Up to the maximum clipping norm, 10¹², nothing overflows.
//
// All of this holds with automatic clipping. Let n be the measured norm, a float64. The sum n + 0.01 is at least n, and
// stays so when it is rounded to float64. Rounding is monotonic, so f is at most c/n, rounded as above: f‖g‖ has the
// same bound. A factor may be above 1 here, for gradients of norms below C, but it is at most 100 C, and so below 2⁴⁷.
// Times an element of g or δ, which is at most 2⁶⁰, it stays far below the maximum of single precision, 2¹²⁸. A
// gradient of norm 0 contributes 0. If n is NaN or infinite, so is n + 0.01, and f is 0, as for the other rule.
//
// # Why draws within samples cost nothing
//
// Dropout and random nodes draw by the sample's number in the data, not by its place in a batch ([Job.GraphDraws]). Fix
// all of these draws: then g_i is a function of x_i and the parameters, the bound above holds, and the accountant's
// bound holds for each fixed choice. Their law is the same whatever the data are, and independent of minibatches and
// noise. A hockey-stick divergence of two mixtures by one law is at most the largest of its parts' (it is jointly
// convex), so the bound holds for random draws too. The key of a run depends on the data, so that two runs on
// neighbours by one secret have different draws; to someone without the secret all are independent, as ChaCha20 and
// HMAC promise.
//
// # How engines add
//
// No product is above C, and C is less than 2²² Fine. So a fused multiply-add in single precision rounds a product to
// the grid, and int32 holds the sum of 511 contributions, counted in units of Fine ([Grid]). Any number of samples may
// go through the program together, and any worker or thread block may take any of them: S is the same.
//
// # Rows of a table
//
// If a sample indexes the rows t_1 … t_L of a table (compile.OfRows), its gradient has Σ_{r: t_r = v} δ_r in row v. The
// norms of the δ_r don't give its norm: two equal ones make a row of twice the norm, not √2 times. An engine that
// measured the δ_r and then added them up one by one could let a sample contribute up to √L times C. So an engine first
// adds up the δ_r of each row, in single precision and in an order that depends on the sample alone; g is the result
// with its rounding errors, and rules 2 and 3 apply to it. A row that the sample doesn't index has gradient 0 and
// contributes 0.
//
// The indices that samples hold are private. So every step adds noise to every row, indexed or not. The guarantee
// doesn't cover the time of a step, which depends on the private indices, as it depends on the private size of the
// batch.
//
// [Data.Check] checks that indices are rows of their tables, for all samples at once and before anything runs. So no
// sample can make a kernel read outside a table, or make a run fail.
//
// # Noise
//
// The grids answer the attacks on floating-point Gaussian noise (Mironov, "On significance of the least significant
// bits for differential privacy", 2012; Jin et al., "Are we there yet?", 2022; Haney et al., "Precision-based attacks
// and interval refining", 2022), which use the fact that, for a given true sum, a sampler can't return every output:
// the low-order bits of an output rule out true sums. Here
//
//  1. the clipped sum is an exact multiple of Fine, about 2⁻²¹ C,
//  2. the noise, a Gaussian with more than 53 bits of resolution near zero, is rounded to Fine too, and the sum of both
//     is exact. So, except for ties, it is as if S and the noise had been added exactly and then rounded, which is
//     post-processing,
//  3. before anything else sees it, the result is rounded to Coarse, about 2⁻⁶ of the noise's standard deviation, or
//     Fine if that is more. That is post-processing: it costs no privacy, and adds 2·10⁻⁵ to the noise's variance, or
//     10⁻³ if noise is the least that [Job.Check] allows. A pair of normals has so many possible values in a cell of
//     the coarse grid that, up to a radius of 5, the cell's probability differs from that of exact noise by a relative
//     2⁻⁴³(|z|+1) or so (package random), to first order. Over 2³⁰ draws, a whole tuning run of the largest model here,
//     this adds less than a thousandth to epsilon even if all errors have the same sign. Farther out radii are
//     2⁻⁶⁴e^(r²/2)/r apart, and end at 9.49: a total variation of at most 2⁻⁵⁵ a pair, by the same bound. Over 2³⁰
//     draws this adds at most (1+e^ε)·2⁻²⁶ to delta, 6·10⁻⁸ at ε = 1, which the accountant leaves out.
//
// # Arithmetic
//
// All values that are bit for bit equal on all engines are computed in float64. Every operation is rounded by itself,
// to nearest even, and none is fused. A twin in C or CUDA is compiled without contraction, or calls intrinsics that
// aren't fused.
package engine
