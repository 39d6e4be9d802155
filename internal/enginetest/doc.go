// Package enginetest is the conformance suite of engines: every engine must pass [Suite.Run], and any
// graph can be held against Gorgonia's own gradient with [Suite.CheckGraph].
//
// That oracle never sees a batch: it runs each sample by itself on a graph built with a batch of one,
// clips in float64 and adds. Engines must agree with it to the precision of float32 arithmetic. But it reads the graph
// by the same code as the compiler does, and differentiates as Gorgonia does, which isn't always right.
// [Suite.CheckDifferences] is the second opinion: central differences of the cost in double precision, evaluated by
// Gorgonia's own machine, share nothing with package compile.
//
// Gradients are half of what an engine promises; [Checks] hold the other half, which privacy rests on. Random graphs
// differ from run to run: what they find prints how to find it again.
//
// [Zoo] holds a graph for each thing that a rule must get right, [Lone] those for a batch of one: every operation
// that is trained one sample at a time is among them, or the tests of package compile fail.
// [Suite.Lone] is for engines that run programs with an Opaque instruction.
package enginetest
