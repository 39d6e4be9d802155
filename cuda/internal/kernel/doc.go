// Package kernel holds Go's copies of the definitions in run.cuh, the header of a step's kernels: the kernels'
// parameters [Minibatches] and [Group], and the numbers of columns.
//
// The numbers are generated from the enums of the headers (go test ./cuda/internal/kernel -update), and the structs are
// tested against the headers'.
package kernel
