// Package float computes with float64s where the library's own functions aren't enough for a bound: call Log for
// logarithms of numbers that may be subnormal, and ProductUp for a product that must not be too small. Softmax makes
// probabilities of logits.
package float
