// Package engine is the contract of every engine: what a device does to train privately, as plain Go that the CPU
// engine calls and that a kernel is a twin of. Whatever decides between private and not is here once; an engine adds
// how gradients are computed, and nothing else.
//
// A program and its data are loaded once ([Engine]); then any number of jobs start and advance side by side ([Loaded],
// [Runs]). A [Job] is pure data. One logical step of it, at parameters θ:
//
//	B = {i in Members : each kept independently with SamplingProbability}
//	S = Σ_{i∈B} min(1, c/‖g_i‖) g_i         g_i: gradient of sample i; not finite: contributes 0
//	G = (S + N(0, (σC)² I)) / ExpectedBatchSize
//	θ ← Optimizer(θ, G)
//
// As Go, after t steps, with a sum S that an engine has made of gradients:
//
//	batch := job.Minibatch(t, members, nil)
//	job.Normals(t, 0, noise)                                  // within one parameter, as all that follows
//	grid.Release(sum, noise, mechanism.NoiseDeviation(), mechanism.ExpectedBatchSize)
//	job.Optimizer.Update(t+1, params, first, second, noise)   // which are mean gradients now
//
// C is the clipping norm that the noise is made for, c = C(1 − 2⁻¹⁰). An empty B still adds noise and updates. The
// divisor is the expected batch size, never |B|.
//
// # What engines promise
//
// Bit for bit, on every engine: the minibatch ([Job.Minibatch]) and the normals ([Job.Normals]) of a step, which come
// from the key by name and word index, never from an engine's own schedule; the layout of parameters ([Layout]); the
// grids, the rounding of chunks' sums to them and the release ([Grid]), and the division; the clip factor of a given
// squared norm ([ClipFactor]); the optimizer ([Optimizer.Update]).
//
// Within a tolerance that each engine states: gradients of samples, their norms, outputs.
//
// Bounded, never exceeded: to add any one sample to any batch, or to take it away, moves a step's sum S, as it is
// computed, by at most C in L2 norm. Five rules make it so, and package enginetest holds every engine to them:
//
//  1. A sample's computed gradient g_i depends on the sample and on the parameters alone, to the last bit: not on who
//     shares its block, tile or warp, nor on where in the data or in the batch it stands.
//  2. Its norm is measured on the very numbers that are summed, to a relative 2⁻¹⁸ or better, whatever its size (single
//     precision's own sums stagnate after some 10⁶ squares: add blocks of them in double), and one that is beyond
//     single precision's reach, 2⁶⁰ for each factor that it is made of, counts as infinite. No norm from Gram matrices:
//     where rows nearly cancel, they leave a rounding error in its place. A sample with factor 0 contributes nothing,
//     NaN or not.
//  3. Samples are added in single precision only within a chunk ([Chunks]), of at most M ≤ 64 samples, which the
//     engine and the program fix, and nothing else. Such a sum of m samples is off by at most m(m+2)·2⁻²⁴·c in norm.
//  4. A chunk's sum is rounded to the fine grid before it meets any other ([Grid.Round]); from there on sums are exact.
//  5. The same parameters, batch and sample give the same numbers every time, however many runs, workers or tiles there
//     are.
//
// # Why the sum moves by at most C
//
// Neighbours are tables of the same number of places, one of which is empty in one of them: what a sample leaves behind
// is an empty place, and the others keep theirs. The number of places is public.
//
// Let x be a sample that isn't in batch B, M the engine's bound, and N the largest node of the tree that holds x's
// place and at most M samples of B, or the root where that has no more. N is a chunk of B, an empty one perhaps. Let K
// be any other chunk of B. Nodes are nested or disjoint, and chunks can't be nested, because what is above a chunk
// holds more than M and a chunk doesn't. So K is disjoint from N, doesn't hold x's place, and holds in B+x what it held
// in B; its parent holds more than M in B, and so in B+x. Hence K is a chunk of B+x, with the same samples. In the same
// way every chunk of B+x that isn't within N is one of B. Within N there are m ≤ M samples of B, and m+1 of B+x: in one
// chunk, or, if m = M, in several of at most M.
//
// So all other chunks' sums are equal in both, to the last bit, by rules 1 and 5, and what is left of the difference is
//
//	f g_x + (errors of N's chunks in B+x) − (error of N in B).
//
// f g_x is x's own contribution: at most c(1 + 2⁻¹⁷) by rule 2 and the factor's rounding. By rule 3 single precision
// errs by at most 64·66·2⁻²⁴ c on one side and, since Σ m_k(m_k+2) over chunks of 65 samples together, none above 64,
// is largest for 64 and 1, by (64·66 + 3)·2⁻²⁴ c on the other: together 2⁻¹⁰·0.516 c. Each of at most 1 + 65 chunks is
// rounded once in each coordinate, by at most half of Fine: (M+2)·√d·Fine/2 in norm for d parameters, which [Job.Check]
// holds below 2⁻¹²C. Altogether c(1 + 2⁻¹⁷ + 0.516·2⁻¹⁰) + 0.25·2⁻¹⁰ C < C(1 − 0.2·2⁻¹⁰).
//
// That counts relative errors. A product that underflows errs by up to 2⁻¹⁵⁰ besides, a factor of a gradient by that
// times the other factor, which is at most 2⁶⁰ (rule 2): 2⁻⁸⁴√d in a chunk, nothing beside the least clipping norm that
// [Job.Check] lets pass, 10⁻¹². Nor does anything overflow below the largest, 10¹².
//
// # Rows of a table
//
// Of a table whose rows a sample picks by t_1 … t_L (compile.OfRows) the sample's gradient has Σ_{r: t_r = v} δ_r in
// row v. Its norm isn't known from the norms of the δ_r: two equal ones make a row of twice the norm, not √2 times, and
// rows added to a chunk's sum one by one after such a measurement would contribute up to √L times C. So an engine first
// adds up, in single precision and in an order that the sample alone decides, the δ_r of one row; g_i is what comes of
// that, with whatever was rounded on the way, and nothing else is measured, multiplied by the factor and added to the
// chunk's sum: rule 2. Each sample then adds to a coordinate of a chunk's sum once at most, by one product and one
// addition, as it does where the gradient is formed: rule 3's bound is about m such additions and counts no others.
//
// An engine may also round each sample's rows to the grid by themselves, as if the sample were a chunk of its own in
// these coordinates: rule 4. There what the others add is then the same in both batches, and x's own is rounded once,
// less than the proof allows for.
//
// A coordinate that no sample of a chunk touches is 0 in its sum, and rounds to 0: to leave such coordinates out
// changes no bit of S. What samples pick is private. So the noise falls on every row in every step, whoever picks it,
// and the time that a step takes is no part of the guarantee, as it isn't elsewhere: it follows from the size of the
// batch as well.
//
// That indices are within the table is checked with the data ([Data.Check]), for all samples at once and before
// anything runs: what a kernel reads, and whether a run fails, must not be up to one sample.
//
// # Noise
//
// The grids answer the attacks on floating-point Gaussian noise (Mironov, "On significance of the least significant
// bits for differential privacy", 2012; Jin et al., "Are we there yet?", 2022; Haney et al., "Precision-based attacks
// and interval refining", 2022), which read off low-order bits which outputs a sampler can't reach given the true sum.
// Here
//
//  1. the clipped sum is an exact multiple of Fine,
//  2. the noise, a Gaussian with more than 53 bits of resolution near zero, is rounded to Fine too, and the sum of both
//     is exact,
//  3. before anything else sees it, the result is rounded to Coarse, about 2⁻⁶ of the noise's standard deviation. That
//     is post-processing: it costs no privacy, and adds 2·10⁻⁵ to the noise's variance. Each of its cells collects so
//     many of the noise's values that their gaps show in no output: neighbouring data sets reach the same outputs, and
//     a cell's probability differs from that of exact Gaussian noise by a relative 2⁻⁴³(|z|+1) or so (package random),
//     to first order. Over 2³⁰ draws, a whole tuning run of the largest model here, such errors add up to less than a
//     thousandth in epsilon even if all of them conspired.
//
// # Arithmetic
//
// What is bit for bit is stated in doubles (float64), every operation rounded by itself to nearest even, none fused. A
// twin in C or CUDA is compiled without contraction, or writes its operations by name.
package engine
