// Package repetitions computes with the distributions of K, the number of trials of a tuning run, by their generating
// function phi(z) = E z^K. Construct a [Poisson], a [TruncatedPoisson], a [NegativeBinomial] or a [Binomial], and ask
// it for the derivatives of phi as a [Distribution].
//
// In comments phi1, phi2 and phi3 are the derivatives of phi. Functions take w = 1-z instead of z, because w is
// accurate near z = 1. They don't check parameters of distributions: package accountant does.
package repetitions
