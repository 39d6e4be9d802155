// Package kerneltest checks Go's copies of what the kernels' headers define: [Words] compares the numbers of enums, or
// generates them, and [Layouts] compares structs. Tests of the packages beside it call them.
package kerneltest
