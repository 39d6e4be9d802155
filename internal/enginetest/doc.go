// Package enginetest is the conformance suite of engines. Call [Suite.Run] in an engine's tests, and [Suite.CheckGraph]
// to check any one graph against Gorgonia's own gradient.
//
// [Reference] is an oracle that never sees a batch: it runs each sample by itself, on a graph built with a batch of
// one, by Gorgonia's own differentiation. The suite clips its gradients in float64 and adds them, and engines must
// agree with the sum to float32's precision. The oracle shares nothing with package compile but package graph. It
// takes from the run's key what dropout drops and what random nodes are, as engines must. But Gorgonia's
// differentiation isn't always right. So [Suite.CheckDifferences] checks engines against central differences too,
// which share nothing with either: Gorgonia's own machine evaluates the cost in double precision. They can't check
// what draws, and the other oracle can't check the operations whose gradient Gorgonia gets wrong.
//
// Correct gradients are half of an engine's promise. Privacy depends on the other half, whose tests [Checks] returns.
// Random graphs differ from run to run, and a failure prints the command that repeats it.
//
// [Zoo] returns a graph for each case that a rule must handle: the tests of package compile fail unless every operation
// that isn't refused is among them.
package enginetest
