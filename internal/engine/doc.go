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
// C is the clipping norm, for which the noise is made, and c = C(1 − 2⁻¹⁰) is the norm that engines clip to. A step
// with an empty B still adds noise and updates. The divisor is the expected batch size, never |B|.
//
// # What engines promise
//
// Bit for bit, on every engine: the minibatch ([Job.Minibatch]) and the normals ([Job.Normals]) of a step, which depend
// on the key, a stream's name and a word's index and not on an engine's schedule; the layout of parameters ([Layout]);
// the grids, the rounding of chunks' sums, the release and its division ([Grid]); the clip factor of a given squared
// norm ([ClipFactor]); the optimizer ([Optimizer.Update]).
//
// Within a tolerance that each engine states: gradients of samples, their norms, outputs.
//
// Bounded, never exceeded: the sensitivity of a step's computed sum S. One sample more or less in any batch changes S
// by at most C in L2 norm. Five rules ensure this bound, and package enginetest checks every engine against them:
//
//  1. A sample's computed gradient g_i depends on the sample and on the parameters alone, to the last bit: not on the
//     other samples of its microbatch, tile or warp, nor on its index in the data or in the batch.
//  2. Its norm is measured on the very numbers that are summed, to a relative 2⁻¹⁸ or better, whatever its size (sums
//     in single precision stagnate after some 10⁶ squares: add partial sums in double). A parameter's gradient is
//     measured as it is kept, whole or as two factors; a norm of one of these above 2⁶⁰ counts as infinite, because it
//     is beyond single precision's reach. No norm comes from Gram matrices, which leave a rounding error in its place
//     where rows nearly cancel. A sample with factor 0 contributes nothing, NaN or not.
//  3. Samples are added in single precision only within a chunk ([Chunks]), of at most M ≤ 64 samples, where M
//     depends on the engine and the program alone. Such a sum of m samples is off by at most m(m+2)·2⁻²⁴·c in norm.
//  4. A chunk's sum is rounded to the fine grid ([Grid.Round]) before it is added to any other; all later sums are
//     exact.
//  5. The same parameters, batch and sample give the same numbers every time, for any number of runs, workers or tiles.
//
// # Why the sum moves by at most C
//
// Removing a sample leaves an empty entry, so that all others keep their indices. So neighbours are data sets of the
// same size, and one has an empty entry where the other has a sample. The size is public.
//
// Let x be a sample that isn't in batch B, M the engine's bound, and N the largest node of the tree ([Chunks]) that
// holds x's index and at most M samples of B. N may be the root. N is a chunk of B, perhaps an empty one. Let K be any
// other chunk of B. Nodes are nested or disjoint, and chunks can't be nested, because a node above a chunk holds more
// than M samples and a chunk doesn't. So K is disjoint from N, doesn't hold x's index, and holds the same samples in
// B+x as in B; its parent holds more than M in B, and so in B+x. Hence K is a chunk of B+x. In the same way every chunk
// of B+x outside N is a chunk of B. Within N there are m ≤ M samples of B, and m+1 of B+x: in one chunk, or, if m = M,
// in several of at most M.
//
// So all other chunks' sums are equal for both batches, to the last bit, by rules 1 and 5, and the difference is
//
//	f g_x + (errors of N's chunks in B+x) − (error of N in B).
//
// f g_x is x's own contribution: at most c(1 + 2⁻¹⁷) by rule 2 and the factor's rounding. By rule 3 single precision
// errs by at most 64·66·2⁻²⁴ c on one side and by (64·66 + 3)·2⁻²⁴ c on the other, where chunks of at most 64 samples
// share 65: Σ m_k(m_k+2) is largest for chunks of 64 and 1. Together that is 2⁻¹⁰·0.516 c. Each of at most 1 + 65
// chunks is rounded once in each coordinate, by at most half of Fine: (M+2)·√d·Fine/2 in norm for d parameters, which
// [Job.Check] keeps below 2⁻¹²C. Altogether c(1 + 2⁻¹⁷ + 0.516·2⁻¹⁰) + 0.25·2⁻¹⁰ C < C(1 − 0.2·2⁻¹⁰).
//
// These are relative errors. A product that underflows has an additional error of up to 2⁻¹⁵⁰. If it is a factor of a
// gradient, the error is multiplied by the other factor, which is at most 2⁶⁰ (rule 2). In a chunk this adds up to at
// most 2⁻⁸⁴√d, which is negligible against 10⁻¹², the minimum clipping norm that [Job.Check] allows. Up to the maximum
// clipping norm, 10¹², nothing overflows.
//
// # Rows of a table
//
// If a sample indexes the rows t_1 … t_L of a table (compile.OfRows), its gradient has Σ_{r: t_r = v} δ_r in row v. The
// norms of the δ_r don't give its norm: two equal ones make a row of twice the norm, not √2 times. An engine that
// measured the δ_r and then added them to a chunk's sum one by one could let a sample contribute up to √L times C. So
// an engine first adds up the δ_r of each row, in single precision and in an order that depends on the sample alone;
// g_i is the result with its rounding errors. By rule 2 the engine measures this g_i, multiplies it by the factor and
// adds it to the chunk's sum. Each sample then adds to a coordinate of a chunk's sum at most once, by one product and
// one addition, as it does for a materialized gradient: rule 3's bound counts m such additions and no others.
//
// By rule 4 an engine may also round each sample's rows to the grid separately, as if in these coordinates the sample
// were a chunk of its own. The other samples then contribute the same in both batches, and x's own rows are rounded
// once. This error is smaller than the one that the proof allows.
//
// A coordinate that no sample of a chunk touches is 0 in the chunk's sum and rounds to 0, so an engine that leaves it
// out changes no bit of S. The indices that samples hold are private. So every step adds noise to every row, indexed or
// not. The guarantee doesn't cover the time of a step, which depends on the private indices, as it depends on the
// private size of the batch.
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
//  1. the clipped sum is an exact multiple of Fine,
//  2. the noise, a Gaussian with more than 53 bits of resolution near zero, is rounded to Fine too, and the sum of both
//     is exact,
//  3. before anything else sees it, the result is rounded to Coarse, about 2⁻⁶ of the noise's standard deviation. That
//     is post-processing: it costs no privacy, and adds 2·10⁻⁵ to the noise's variance. Each cell of the coarse grid
//     holds so many of the noise's possible values that gaps between these are visible in no output: neighbouring data
//     sets have the same possible outputs, and a cell's probability differs from that of exact Gaussian noise by a
//     relative 2⁻⁴³(|z|+1) or so (package random), to first order. Over 2³⁰ draws, a whole tuning run of the largest
//     model here, such errors add less than a thousandth to epsilon even in the worst case, in which all have the same
//     sign.
//
// # Arithmetic
//
// Whatever is bit for bit equal on all engines is computed in float64. Every operation is rounded by itself, to nearest
// even, and none is fused. A twin in C or CUDA is compiled without contraction, or calls intrinsics that aren't fused.
package engine
