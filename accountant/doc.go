/*
Package accountant computes the (epsilon, delta) guarantees of private training and tuning. Build an event that
describes what is done with the data: [DPSGD] for one training run, [Variant1], [Variant2] or [Baseline] for training
with tuning. Then call [Epsilon] or [Delta] on it. Call [CalibrateNoise] or [CalibrateSteps] for the noise or the steps
that meet a budget:

	run := accountant.DPSGD(0.0213, 2, 1878) // sampling rate, noise multiplier, steps
	plan := accountant.Variant1(0.1, accountant.Poisson{Mean: 15}, run)
	guarantee, err := accountant.Epsilon(plan, 1e-5, accountant.Options{})

Events are immutable values, from which larger events can be built: [Gaussian], [PoissonSampled], [SelfComposed],
[Composed], [SelectBest], [OneOf], [MaxOver], [SubsetThenRest], [Parallel], [GroupOf] and [RDPLine]. [MarshalEvent] and
[UnmarshalEvent] write and read them. Their analysis is chosen by [Options], whose zero value means the best bounds.
[Bounds] lists all bounds of an event, [RDP] returns its Rényi curve, and [Attained] returns a lower bound on what any
accounting can give. No other package decides what a run costs.

Neighbours are datasets that differ by one sample, added or removed, or by the samples of one unit that [GroupOf] names.
By [Options] another sample may take the sample's place ([ReplaceOne]). A batch is a Poisson sample: a sampling rate is
the probability that a sample is in it, whatever else is. No bound covers shuffled batches or batches of a fixed size.
Every bound covers both directions. Logarithms are natural. Every result is an upper bound: sums are rounded up, grids
and searches err to the safe side, and a calibrated value has been evaluated and found to meet its target.

The rest of this comment lists what is proven, and where. Names in square brackets with underscores are labels of the
paper (Koskela and Kulkarni, "Practical differentially private hyperparameter tuning with subsampling", 2023).

# Mode paper: Rényi divergences

A mechanism has an RDP curve r if its outcomes on neighbours have Rényi divergence at most r(a) at every integer order
a >= 2, in both directions. Curves of adaptive compositions add up. Package internal/renyi computes them.

  - One DP-SGD step with sampling rate g and noise multiplier s has exactly
    log(1 + sum_{k>=2} C(a,k) (1-g)^{a-k} g^k (e^{k(k-1)/(2s^2)} - 1))/(a-1) (Mironov, Talwar and Zhang, 2019).
  - A Poisson sample of any mechanism: Zhu and Wang's bound [subsampling_R]. Rate 1 returns the curve itself, where the
    printed formula adds log 3/(a-1).
  - The best of K runs, K ~ Poisson(mu): Papernot and Steinke's bound [main_rdp_poisson], r(a) + mu deltaHat +
    log(mu)/(a-1), where (epsilonHat, deltaHat) is any guarantee of one run with e^epsilonHat <= 1 + 1/(a-1). Equality
    is the best choice and always available; leaving out mu deltaHat is a known mistake. For mu < 1 the printed bound is
    false: a mechanism that ignores its data would have the negative divergence log(mu)/(a-1). The sum that the proof
    bounds also holds the term e^-mu of K = 0, and log(e^-mu + mu e^{(a-1)(r(a) + mu deltaHat)})/(a-1) holds for every
    mu. If K is conditioned on K >= 1, its mean mu/(1-e^-mu) replaces mu in the logarithm.
  - The best of K runs, K truncated negative binomial: their Theorem 2; see TruncatedNegativeBinomial. At the same mean
    such a K costs less than a Poisson one, and varies more.
  - The best of K runs, K binomial: by the argument of their theorems, see renyi.BinomialTuned, or by the composition of
    all trials, each of which takes place with the binomial's probability.
  - The best of a fixed number K of runs: the composition of all K.
  - Variant 1, tuning on a random subset and training on the rest: Theorem [strategy1_rdp1], at integer orders.
  - Variant 2, tuning on a random subset and training on everything: the amplified tuning curve plus the base curve.
  - A candidate drawn at random from a grid: the pointwise maximum of the candidates' curves [param_tuning], with the
    maximum of their values of deltaHat, which can be smaller than deltaHat of the maximum curve. Disjoint shards: the
    maximum [RDP_parallel].
  - A candidate that is fitted to a line c·a only after it is drawn [random_search]: the line, but only at the orders
    that it was fitted at ([RDPLine]).
  - At delta, a curve gives the smallest r(a) + log(1-1/a) - log(delta a)/(a-1) over the orders [rdp_to_dp].

# Mode tight

Mode tight adds five bounds, each valid by itself. Proofs of the first and the third stand in package internal/renyi.

 1. deltaHat from two moments: (sqrt(e^{r(2)} - 1 + k^2) - k)/2 with k = e^epsilonHat - 1.
 2. (a-1) times a Rényi divergence is convex in a and 0 at a = 1. So the tuning curve may be replaced by the lower
    convex hull of the points (a-1, (a-1) r(a)) and (0, 0).
 3. The divergence of variant 1 without the sample from variant 1 with it is at most that of variant 2.
 4. Sampling never costs more than not sampling.
 5. A trial draws its candidate from a public distribution, and the candidate is part of its outcome. So its
    divergence, as a power e^{(a-1) r(a)} and as a hockey stick, is the average over the candidates ([OneOf]), where
    mode paper takes the maximum. The final run's candidate is chosen by looking at the data, and costs the maximum.

# Mode best: privacy-loss distributions

Mode best returns the smaller of two values. One is the Rényi bound of mode tight, but with deltaHat from the
privacy-loss distribution of one run if that is smaller. The other is a bound by privacy-loss distributions alone.
Package accountant/internal/pld computes the second, with the exact worst case of private selection over all orders of
scores, and one order for tuning and final training together, except for binomial K; docs/proofs/bounds.md proves it.
Guarantee.Bound names the bound that won. An [RDPLine] has the distributions that its divergences allow at worst
(docs/proofs/bounds.md, section 13).

Distributions are bounds on any grid. The grid's step is chosen by the standard deviation of the losses so that it makes
epsilon too large by about 1e-4 of its value. The cells of a selection add at most another 5e-4 at usual settings.

# Rounding

Results are upper bounds in floating point too. In the Rényi modes nothing cancels, every operation raises its result by
more than its rounding, and conversions add the rounding of their logarithms; compared with values of 60 digits
(testdata), no result is too large by more than 1e-6 of its value. Every operation on distributions works with sums of
non-negative terms and raises its result by a relative 2^-32, which is more than the rounding of the sums. An event that
costs anything never has cost 0: its delta is at least the smallest positive float64, and its epsilon at delta 0 is
infinite.

The bounds assume that a function of package math errs by at most one unit in the last place, as Go documents or as was
measured. Every bound would allow an error of several units.
*/
package accountant
