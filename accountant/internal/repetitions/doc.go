// Package repetitions computes with the distributions of K, the number of trials of a tuning run, by their generating
// function phi(z) = E z^K: construct a [Poisson], [TruncatedPoisson] or [NegativeBinomial] and ask a [Distribution] for
// phi's derivatives. Derivatives of phi are phi1, phi2 and phi3 in comments; arguments of phi are given as w = 1-z,
// which keeps its digits near z = 1. Parameters are taken as valid: package accountant checks them.
package repetitions
