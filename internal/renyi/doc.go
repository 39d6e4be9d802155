/*
Package renyi computes Rényi curves: bounds on the Rényi divergence of a mechanism's outcomes on neighbours, in both
directions, at every integer order from 2 on. Begin with [SampledGaussian], [Gaussian] or [Line]; [Sum], [Maximum],
[Sampled], [Subset], [PoissonTuned] and the other theorems make curves from curves; [Curve.Epsilon] and [Curve.Delta]
convert a curve to a guarantee. This package knows no events: package accountant chooses the theorem for each event.

Every result is an upper bound in floating point too: each operation raises its result by more than its rounding.

# Sums with binomial weights

The three theorems with binomial weights come down to sum_j C(n,j) p^j (1-p)^{n-j} (e^{x_j + y_{n-j}} - 1) with x, y >=
0 (in [subsampling_R] the factor 3 is part of e^x). Written as e^{x+y} - 1 = (e^x - 1) e^y + (e^y - 1), the sum is two
convolutions of positive sequences that depend on one index each. So nothing cancels, however small the divergence is.
Numbers are stored as fraction and exponent, so their exponents may have any size. A whole curve takes a quadratic
number of multiplications and a linear number of exponentials.

Names in square brackets with underscores are labels of the paper that package accountant names.
*/
package renyi
