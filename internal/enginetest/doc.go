// Package enginetest is the conformance suite of engines. Call [Suite.Run] in an engine's tests, and [Suite.CheckGraph]
// to check any one graph against Gorgonia's own gradient.
//
// That oracle never sees a batch: it runs each sample by itself, on a graph built with a batch of one, clips in float64
// and adds. Engines must agree with it to float32's precision. But it reads graphs by the compiler's own code, and it
// differentiates as Gorgonia does, which isn't always right. So [Suite.CheckDifferences] gives a second opinion, which
// shares nothing with package compile: central differences of the cost in double precision, evaluated by Gorgonia's own
// machine.
//
// Gradients are half of an engine's promise. [Checks] returns the checks of the other half, on which privacy rests.
// Random graphs differ from run to run, and a failure prints the command that repeats it.
//
// [Zoo] returns a graph for each thing that a rule must get right. [Lone] returns graphs for a batch of one: the tests
// of package compile fail unless every operation that is trained one sample at a time is among them. [Suite.Lone]
// checks engines that run programs with an Opaque instruction.
package enginetest
