// Package repetitions computes with the distributions of K, the number of trials of a tuning run, by their generating
// function phi(z) = E z^K. Construct a [Poisson], a [TruncatedPoisson] or a [NegativeBinomial], and ask it for the
// derivatives of phi as a [Distribution].
//
// In comments phi1, phi2 and phi3 are the derivatives of phi. Arguments of phi are given as w = 1-z, which keeps its
// digits near z = 1. Parameters are taken as valid: package accountant checks them.
package repetitions
