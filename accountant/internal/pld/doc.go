/*
Package pld bounds privacy by privacy-loss distributions. [Rows] returns the [Pair] of a DP-SGD run. [Composed],
[Pair.Power], [Sampled], [Maximum], [Minimum], [Subset] and [Selection] make new pairs from pairs. [NewPlan] bounds the
cost of tuning and final training together, and [NewWorstOrder] computes their cost under the worst order found. Methods
DeltaAt return delta at epsilon. The package knows no events: package accountant chooses the operation for each event.
If an operation returns [ErrTooFine], the caller retries with a coarser grid.

Orderings, selections and plans are in the same package as pairs, because they read all fields of a side, and because
one search for counterexamples (adversary_search_test.go) tests all of them with the same exact laws.

# Dominating pairs

The hockey-stick divergence of P from Q at epsilon is the integral of (p - e^epsilon q)_+; delta at epsilon is its
largest value over neighbours, in both directions. A pair has two sides on a grid of privacy losses, one for each
direction. In one direction P is the outcome's law with a sample and Q the law without it; in the other they are
exchanged. A side has masses at losses l and one mass, inf, at infinity, and represents the function

	R(epsilon) = inf + sum over l > epsilon of mass (1 - e^{epsilon - l}).

Every operation ensures that R is at least the mechanism's divergence D at every real epsilon. The proofs use three
facts. D as a function of x = e^epsilon is convex, never rises, and is 1 at x = 0. For convex f that never rises and
ends at 0, as f(y) = (1 - e^epsilon y)_+ does, the expectation of f(q/p) under P is a mixture of divergences and so at
most the sum of mass f(e^-l), plus inf f(0). And for convex f that never falls and ends with slope 1, the expectation of
f(p/q) under Q, with P's mass where q = 0, is at most the same sum with the masses e^-l times those of the side, cut
from the top down to a sum of 1, the rest being counted at 0 (cutToOne). So R may take D's place in all that follows,
its masses may be raised and moved to higher losses, and need not add up to 1.

  - Rounding to the grid: a mass with a loss between two grid points is split between them so that both distributions'
    masses are kept. The likelihood ratio is then spread around its mean, and no divergence gets smaller. Tails beyond
    the grid go to infinity at the top and to the lowest loss at the bottom. How small tails are follows from the delta
    that is wanted (Grid).
  - One step of DP-SGD is dominated by (1-g) N(0,s^2) + g N(1,s^2) against N(0,s^2) (Zhu, Dong and Wang, "Optimal
    accounting of differential privacy via characteristic function", 2022). rowsLoss.grid integrates it over the cells
    of the grid, in a form in which nothing cancels.
  - Composition adds losses. Many equal steps are composed by Fourier transform on a fine grid and put on the coarse
    grid of the event. lossGrid.power raises every outcome by a bound on its error, so that deltas far below the
    transform's own rounding are bounds too, and accurate. Otherwise masses are convolved one by one.
  - If (P, Q) dominates a mechanism, the mechanism on a Poisson sample of rate g is dominated by ((1-g) Q + g P, Q):
    losses l become log(1-g + g e^l), under the same Q.
  - A maximum over candidates or shards is the maximum of their divergences at the grid points. Between them it is at
    most its chords, since D is convex in x; the lower convex hull of bounds at the grid points is the R of a side
    (hullSide).
  - A mechanism whose divergences are only bounded, at every epsilon >= 0, has the hull of the bounds (Bounded). The
    minimum of two pairs of one mechanism is a hull as well.
  - The two directions are linked, D(epsilon) = 1 - e^epsilon + e^epsilon D2(-epsilon) with D2 the divergence of Q from
    P. The link computes the half of a side below 0 from the half of the other side above 0, and so reduces rounding
    errors. The opposite use would multiply them by e^epsilon.

# Selection

For the best of K runs this package charges the exact worst case of the whole divergence, not only of its moments. Let
one run have the laws P and Q on neighbours, and let outcomes be totally ordered (a random tag orders outcomes of equal
score; the law is the same as if the first of the best outcomes is kept). With phi(z) = E z^K, phi1 its derivative, and
F the distribution function of P in that order, the best of K runs has, given K >= 1, the density s1 = p phi1(F) under P
and s0 = q phi1(G) under Q, where G is the distribution function of Q. So the divergence is at most J(e^epsilon) +
P(K=0) (1 - e^epsilon)_+, J(c) being the supremum over all orders of the integral of (s1 - c s0)_+. The worst order
grows an interval of privacy losses: it begins at some loss, and at each moment places next either the outcomes just
above the interval, which count in the integral, or those just below it, which don't. So J is a recursion over intervals
of cells, quadratic in their number. docs/proofs/bounds.md has the proof, and the proof of the allowances that make the
recursion a bound for orders of parts of cells too (ordering). For a pair of distributions J is exact. A side of a pair
represents such a pair once its masses are cut to a sum of 1.

J is computed at some values of c, two at once. It is convex, so between these its chords are upper bounds. For a plan
that contains the selection, [Selection.Pair] turns the chords into the masses of a side.

# Variant 1 by pairs

With the sample in the subset with probability q, given the other samples' split, the outcome of tuning and base run has
the likelihood ratio q L1 + (1-q) L2 to the outcome without the sample. L1 is the ratio of the tuning run and L2 that of
the base run, which may depend on the tuning's outcome. For a convex f and given L1, f(q L1 + (1-q) L2) is convex in L2,
so its expectation under Q2 doesn't decrease if L2's law is replaced by that of a pair that dominates the base run for
every outcome of the tuning. The result is convex in L1, so L1 may be replaced in the same way. The expectation over L2
is a divergence of the base run at another epsilon, so delta at one epsilon takes one pass over L1. The bound is smaller
than all Rényi bounds of package internal/renyi. It can even be lower than the cost of the base run alone on all data,
since here the base run doesn't read the samples of the subset.

# One order for a plan

In the bounds by pairs every outcome of the final run has a worst order of scores of its own, but in variants 1 and 2
all outcomes share one order. If the final run's weights have a log-concave density over the logarithm of c, an order
that grows an interval is the worst for all outcomes together; for arbitrary weights another order may be worse. So a
plan's weights are raised to a few such densities, each bounded by a recursion that rewards both ends of the interval,
and the weights that the densities don't cover keep orders of their own (docs/proofs/bounds.md, section 7,
docs/proofs/one-order.md, oneOrder).

# Rounding

Every operation works with sums of non-negative terms and raises its result by more than their rounding (roundingOf,
massRounding): by little more, since many trials make the excess count (docs/proofs/bounds.md, section 4). A rounded
argument of R is lowered by more than its rounding. In an ordering the slack is added to gains and costs before their
difference is taken. The result of a transform is raised by a proven bound on its error (see transform.tilted).

A caller must still raise a delta, for the rounding of its last sums and for underflow.
*/
package pld
