/*
Package accountant computes what differentially private training and tuning cost.

An Event describes what was done with the data, as a value; Epsilon and Delta say what it costs, CalibrateNoise and
CalibrateSteps choose a parameter so that it costs no more than a budget, and nothing else in this module computes a
privacy cost. Names in square brackets are labels of the paper (Koskela and Kulkarni, "Practical differentially private
hyperparameter tuning with subsampling", 2023).

Neighbours are datasets that differ by one sample, added or removed. Every bound covers both directions. Logarithms are
natural. Every result is an upper bound: sums are rounded up, grids and searches err to the safe side, and a calibrated
value has been evaluated and found to meet its target.

# The Rényi accountant

A mechanism has an RDP curve r if its outcomes on neighbours have Rényi divergence at most r(a) at every integer order
a >= 2, in both directions. Curves of adaptive compositions add up.

  - One DP-SGD step with sampling rate g and noise multiplier s has exactly
    log(1 + sum_{k>=2} C(a,k) (1-g)^{a-k} g^k (e^{k(k-1)/(2s^2)} - 1))/(a-1) (Mironov, Talwar and Zhang, 2019).
  - A Poisson sample of any mechanism: Zhu and Wang's bound [subsampling_R]. Rate 1 returns the curve itself, where the
    printed formula adds log 3/(a-1).
  - The best of K runs, K ~ Poisson(mu): Papernot and Steinke's bound [main_rdp_poisson],
    r(a) + mu deltaHat + log(mu)/(a-1), where (epsilonHat, deltaHat) is any guarantee of one run with
    e^epsilonHat <= 1 + 1/(a-1). Equality is the best choice and always available; leaving out mu deltaHat is a known
    mistake. For mu < 1 the printed bound is false: a mechanism that ignores its data would have the negative divergence
    log(mu)/(a-1). The sum that the proof bounds also holds the term e^-mu of K = 0, and
    log(e^-mu + mu e^{(a-1)(r(a) + mu deltaHat)})/(a-1) holds for every mu. Given K >= 1, K has mean mu/(1-e^-mu), which
    replaces mu in the logarithm.
  - The best of K runs, K truncated negative binomial: their Theorem 2; see TruncatedNegativeBinomial. Such K cost less
    at the same mean and vary more.
  - Variant 1, tuning on a random subset and training on the rest: Theorem [strategy1_rdp1], at integer orders.
  - Variant 2, tuning on a random subset and training on everything: the amplified tuning curve plus the base curve.
  - A candidate drawn at random from a grid: the pointwise maximum of the candidates' curves [param_tuning]; of their
    deltaHat too, which can be less than the deltaHat of the maximum. Disjoint shards: the maximum [RDP_parallel].
  - A candidate that is fitted to a line c·a only after it is drawn [random_search]: the line, at the orders to which it
    was fitted and at no others (RDPLine).
  - At delta, a curve gives the smallest r(a) + log(1-1/a) - log(delta a)/(a-1) over the orders [rdp_to_dp].

The three sums with binomial weights are one, sum_j C(n,j) p^j (1-p)^{n-j} (e^{x_j + y_{n-j}} - 1) with x, y >= 0 (in
[subsampling_R] the factor 3 is part of e^x). Written as e^{x+y} - 1 = (e^x - 1) e^y + (e^y - 1), it is two convolutions
of positive sequences that depend on one index each. So nothing cancels, however small the divergence; exponents of any
size are kept apart from fractions; and a whole curve takes a quadratic number of multiplications and a linear number of
exponentials.

# Mode tight

Four additions, each a bound by itself.

 1. deltaHat from two moments. For L the likelihood ratio under the second distribution, E L = 1 and E L^2 <= e^{r(2)},
    so E (L-1-k)_+ = (E |L-1-k| - k)/2 <= (sqrt(e^{r(2)} - 1 + k^2) - k)/2, with k = e^epsilonHat - 1.
 2. (a-1) times a Rényi divergence is convex in a and 0 at a = 1. So the tuning curve may be replaced by the lower
    convex hull of the points (a-1, (a-1) r(a)) and (0, 0).
 3. Variant 1 without the sample against with it costs at most what variant 2 costs: with m = a-1 and
    w = (1-q)/(q x + 1-q), (1-w+w y)^-m <= 1-w+w y^-m, and E y = 1 gives E y^-m >= 1.
 4. Sampling never costs more than not sampling.

# Dominating pairs

Mode best adds privacy-loss distributions. The hockey-stick divergence of P from Q at epsilon is the integral of
(p - e^epsilon q)_+; delta at epsilon is its largest value over neighbours, in both directions. The accountant turns an
event into a pair of sides on a grid of privacy losses, one for each direction, P being the outcome's law with a sample
and Q without it or the reverse. A side has masses at losses l and one at infinity, and stands for the function

	R(epsilon) = inf + sum over l > epsilon of mass (1 - e^{epsilon - l}).

The one promise, kept by every operation, is that at every real epsilon R is at least the mechanism's divergence D. Three
facts do the work. D as a function of x = e^epsilon is convex, never rises, and is 1 at x = 0. For convex f that never
rises and ends at 0, as f(y) = (1 - e^epsilon y)_+ does, the expectation of f(q/p) under P is a mixture of divergences and
so at most the sum of mass f(e^-l), plus inf f(0). And for convex f that never falls and ends with slope 1, the
expectation of f(p/q) under Q, with P's mass where q = 0, is at most the same sum with the masses e^-l times those of the
side, cut from the top down to a sum of 1, the rest being counted at 0 (cutToOne). So R may take D's place in all that
follows, its masses may be raised and moved to higher losses, and need not add up to 1.

  - Rounding to the grid: a mass with a loss between two grid points is split between them so that both distributions'
    masses are kept. The likelihood ratio is then spread around its mean, and no divergence gets smaller. Tails beyond the
    grid go to infinity at the top and to the lowest loss at the bottom.
  - One step of DP-SGD is dominated by (1-g) N(0,s^2) + g N(1,s^2) against N(0,s^2) (Zhu, Dong and Wang, "Optimal accounting
    of differential privacy via characteristic function", 2022). sampledGaussian integrates it over the cells of the grid,
    in a form in which nothing cancels.
  - Composition adds losses. Many equal steps are composed by Fourier transform on a fine grid and put on the coarse grid
    of the event; see power for how every outcome is raised by a bound on its error, so that deltas far below the
    transform's own rounding keep their digits, and for what falls outside the window. Otherwise masses are convolved
    one by one.
  - A Poisson sample of rate g of what (P, Q) dominates is dominated by ((1-g) Q + g P, Q): losses l become
    log(1-g + g e^l), under the same Q.
  - A maximum over candidates or shards is the maximum of their divergences at the grid points. Between them it is at most
    its chords, since D is convex in x; the lower convex hull of bounds at the grid points is the R of a side (hullSide).
  - The two directions are linked, D(epsilon) = 1 - e^epsilon + e^epsilon D'(-epsilon). The link gives the half of a side
    below 0 from the half of the other above 0, where it shrinks rounding errors; in the other direction it would multiply
    them by e^epsilon.

# Selection

For the best of K runs this package charges the exact worst case of the whole divergence, not only of its moments. Let one
run have the laws P and Q on neighbours, and let outcomes be totally ordered (equal scores are settled by a random tag;
this is the law of keeping the first of the best). With phi(z) = E z^K and F the distribution function of P in that
order, the best of K runs has the density s1 = p phi'(F) given K >= 1, against s0 = q phi'(G) with G that of Q. So the
divergence is at most J(e^epsilon) + P(K=0) (1 - e^epsilon)_+, J(c) being the supremum over all orders of the integral of
(s1 - c s0)_+. The worst order grows an interval of privacy losses: it begins somewhere, and places next what is just
above the interval, which counts, or just below, which doesn't. That makes J a recursion over intervals of cells,
quadratic in their number. docs/bounds.md has the proof, and that of the allowances that make the recursion a bound for
orders of parts of cells too (ordering). For a pair of distributions J is the truth; a side of a pair stands for one, with
its masses cut to a sum of 1.

Between the values of c at which J is computed its chords are bounds, as it is convex. A plan that has the selection in
it takes them as the masses of a side (selection.pair).

# Variant 1 by pairs

With the sample in the subset with probability q, given the other samples' split, the outcome of tuning and base run has
the likelihood ratio q L1 + (1-q) L2 against that without the sample: L1 of the tuning run, L2 of the base run, which may
depend on the tuning's outcome. For a convex f and given L1, f(q L1 + (1-q) L2) is convex in L2, so its expectation under
Q2 grows when L2 gets the law of a pair that dominates the base run whatever the tuning's outcome was. What is left is
convex in L1, so L1 may be replaced in the same way. The expectation over L2 is a divergence of the base run at another
epsilon, so delta at one epsilon costs one pass over L1. It is smaller than all Rényi bounds here, and can even lie
below the cost of the base run alone, which does not see the samples of the subset.

# One order for a plan

In the bounds by pairs every outcome of the final run has a worst order of scores of its own, but variants 1 and 2 have one
for all. Where the final run's weights have a log-concave density over the logarithm of c, an order that grows an interval
is the worst for all of them together; it isn't for any weights. So a plan's weights are raised to a few such densities,
each bounded by a recursion that rewards both ends of the interval, and what is left keeps orders of its own
(docs/bounds.md, section 7, docs/one-order.md, oneOrder).

# Mode best

Epsilon takes the smaller of two values: the Rényi bound of mode tight with deltaHat from the pair of one run where that
is smaller, and the bound by pairs. Guarantee.Bound says which won, and Bounds lists all. Pairs are bounds whatever their
grid; the grid is chosen from the deviation of the losses so that epsilon is high by about 1e-4 of its value, and the
cells of a selection so that it is by another 5e-4 at most at usual settings.

Attained is what a plan costs under the worst order known: a lower bound on what any accounting may answer.

# Rounding

Results are upper bounds in floating point too. In the Rényi modes nothing cancels, every operation raises its result by
more than its rounding, and conversions add the rounding of their logarithms; against values with 60 digits (testdata) no
result is high by more than 1e-6 of its value. With pairs, every operation works with sums of non-negative terms and
raises its result by a relative 2^-32, which is more than their rounding (see rounding); where an argument of R is itself
rounded, it is moved down; an ordering's gains and costs carry that slack before they cancel; and what is found by a transform is raised by a proven bound on its error (see tilted). What costs
anything never costs 0: delta is at least the smallest positive float64, and epsilon at delta 0 is infinite.

The error of a library function is taken to be at most one unit in the last place, as Go's are documented or measured to
be; every bound leaves room for several.
*/
package accountant
