// Package kerneltest checks Go's copies of definitions in the kernels' headers: [Words] compares or generates the
// numbers of enums, and [Layouts] compares structs. Tests of packages kernel and walk call them.
package kerneltest
