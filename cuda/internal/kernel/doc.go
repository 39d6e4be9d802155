// Package kernel has in Go what run.cuh defines for the kernels of a step: [Minibatches] and [Group], which are
// kernels' parameters, and the numbers of columns.
//
// The numbers are generated from the enums of the headers (go test ./cuda/internal/kernel -update), and the structs are
// tested against the headers'.
package kernel
