// Package enginetest is the conformance suite of engines: every engine must pass [Conformance], and any
// graph can be held against Gorgonia's own gradient with [CheckGraph].
//
// The oracle never sees a batch: it runs each sample by itself on a graph built with a batch of one,
// clips in float64 and adds. Engines must agree with it to the precision of float32 arithmetic.
package enginetest
