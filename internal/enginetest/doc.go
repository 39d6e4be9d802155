// Package enginetest is the conformance suite of engines. Call [Suite.Run] in an engine's tests, and [Suite.CheckGraph]
// to check any one graph against Gorgonia's own gradient.
//
// Gorgonia's gradient is an oracle that never sees a batch: it runs each sample by itself, on a graph built with a
// batch of one. The suite clips these gradients in float64 and adds them, and engines must agree with the sum to
// float32's precision. But the oracle reads graphs by the code of package compile, and Gorgonia's differentiation isn't
// always right. So [Suite.CheckDifferences] checks engines against central differences too, which share nothing with
// package compile: Gorgonia's own machine evaluates the cost in double precision.
//
// Correct gradients are half of an engine's promise. Privacy depends on the other half, whose tests [Checks] returns.
// Random graphs differ from run to run, and a failure prints the command that repeats it.
//
// [Zoo] returns a graph for each case that a rule must handle. [Lone] returns graphs for a batch of one: the tests of
// package compile fail unless every operation that is trained one sample at a time is among them. [Suite.Lone] checks
// engines that run programs with an Opaque instruction.
package enginetest
