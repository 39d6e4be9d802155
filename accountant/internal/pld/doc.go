/*
Package pld bounds privacy by privacy-loss distributions. [Gaussians] returns the [Pair] of a DP-SGD run; [Composed],
[Pair.Power], [Sampled], [Maximum], [Subset] and [Selection] make pairs of what is done with runs; [NewPlan] bounds
tuning and final training together, and [NewWorstOrder] computes what such a plan costs under the worst order known. A
DeltaAt method returns delta at epsilon. The package knows no event: package accountant decides which operation holds
for which. Its callers retry with a coarser grid where an operation returns [ErrTooFine].

Orderings, selections and plans share this package with pairs, because the search for counterexamples
(adversary_search_test.go) goes through all of them with the same exact laws, and because they need all of a side.

# Dominating pairs

The hockey-stick divergence of P from Q at epsilon is the integral of (p - e^epsilon q)_+; delta at epsilon is its
largest value over neighbours, in both directions. A pair has two sides on a grid of privacy losses, one for each
direction, P being the outcome's law with a sample and Q without it or the reverse. A side has masses at losses l and
one at infinity, and stands for the function

	R(epsilon) = inf + sum over l > epsilon of mass (1 - e^{epsilon - l}).

Every operation keeps one promise: at every real epsilon R is at least the mechanism's divergence D. Three facts do the
work. D as a function of x = e^epsilon is convex, never rises, and is 1 at x = 0. For convex f that never rises and ends
at 0, as f(y) = (1 - e^epsilon y)_+ does, the expectation of f(q/p) under P is a mixture of divergences and so at most
the sum of mass f(e^-l), plus inf f(0). And for convex f that never falls and ends with slope 1, the expectation of
f(p/q) under Q, with P's mass where q = 0, is at most the same sum with the masses e^-l times those of the side, cut
from the top down to a sum of 1, the rest being counted at 0 (cutToOne). So R may take D's place in all that follows,
its masses may be raised and moved to higher losses, and need not add up to 1.

  - Rounding to the grid: a mass with a loss between two grid points is split between them so that both distributions'
    masses are kept. The likelihood ratio is then spread around its mean, and no divergence gets smaller. Tails beyond
    the grid go to infinity at the top and to the lowest loss at the bottom.
  - One step of DP-SGD is dominated by (1-g) N(0,s^2) + g N(1,s^2) against N(0,s^2) (Zhu, Dong and Wang, "Optimal
    accounting of differential privacy via characteristic function", 2022). sampledGaussian integrates it over the cells
    of the grid, in a form in which nothing cancels.
  - Composition adds losses. Many equal steps are composed by Fourier transform on a fine grid and put on the coarse
    grid of the event. lossGrid.power raises every outcome by a bound on its error, so that deltas far below the
    transform's own rounding keep their digits. Otherwise masses are convolved one by one.
  - A Poisson sample of rate g of what (P, Q) dominates is dominated by ((1-g) Q + g P, Q): losses l become
    log(1-g + g e^l), under the same Q.
  - A maximum over candidates or shards is the maximum of their divergences at the grid points. Between them it is at
    most its chords, since D is convex in x; the lower convex hull of bounds at the grid points is the R of a side
    (hullSide).
  - The two directions are linked, D(epsilon) = 1 - e^epsilon + e^epsilon D2(-epsilon) with D2 the divergence of Q from
    P. The link gives the half of a side below 0 from the half of the other above 0, where it shrinks rounding errors;
    in the other direction it would multiply them by e^epsilon.

# Selection

For the best of K runs this package charges the exact worst case of the whole divergence, not only of its moments. Let
one run have the laws P and Q on neighbours, and let outcomes be totally ordered (equal scores are settled by a random
tag; this is the law of keeping the first of the best). With phi(z) = E z^K, phi1 its derivative, and F the distribution
function of P in that order, the best of K runs has the density s1 = p phi1(F) given K >= 1, against s0 = q phi1(G) with
G that of Q. So the divergence is at most J(e^epsilon) + P(K=0) (1 - e^epsilon)_+, J(c) being the supremum over all
orders of the integral of (s1 - c s0)_+. The worst order grows an interval of privacy losses: it begins somewhere, and
places next what is just above the interval, which counts, or just below, which doesn't. That makes J a recursion over
intervals of cells, quadratic in their number. docs/bounds.md has the proof, and the proof of the allowances that make
the recursion a bound for orders of parts of cells too (ordering). For a pair of distributions J is the truth; a side of
a pair stands for one, with its masses cut to a sum of 1.

Between the values of c at which J is computed its chords are bounds, as it is convex. A plan that contains the
selection takes them as the masses of a side (Selection.Pair).

# Variant 1 by pairs

With the sample in the subset with probability q, given the other samples' split, the outcome of tuning and base run has
the likelihood ratio q L1 + (1-q) L2 against that without the sample: L1 of the tuning run, L2 of the base run, which
may depend on the tuning's outcome. For a convex f and given L1, f(q L1 + (1-q) L2) is convex in L2, so its expectation
under Q2 grows when L2 gets the law of a pair that dominates the base run whatever the tuning's outcome was. The result
is convex in L1, so L1 may be replaced in the same way. The expectation over L2 is a divergence of the base run at
another epsilon, so delta at one epsilon costs one pass over L1. It is smaller than all Rényi bounds of package
internal/renyi, and can even lie below the cost of the base run alone, which does not see the samples of the subset.

# One order for a plan

In the bounds by pairs every outcome of the final run has a worst order of scores of its own, but variants 1 and 2 have
one for all. Where the final run's weights have a log-concave density over the logarithm of c, an order that grows an
interval is the worst for all of them together; for arbitrary weights it need not be. So a plan's weights are raised to
a few such densities, each bounded by a recursion that rewards both ends of the interval, and the weights below them
keep orders of their own (docs/bounds.md, section 7, docs/one-order.md, oneOrder).

# Rounding

Every operation works with sums of non-negative terms and raises its result by a relative 2^-32, which is more than
their rounding (see rounding). Where an argument of R is itself rounded, it is moved down. An ordering's gains and costs
carry that slack before they cancel. The result of a transform is raised by a proven bound on its error (see
transform.tilted).

Pairs are bounds but for what their callers add: a delta must be raised for its last sums and for underflow.
*/
package pld
