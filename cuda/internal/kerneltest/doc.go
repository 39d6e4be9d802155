// Package kerneltest checks what Go repeats of the kernels' headers against them: [Words] the numbers of enums, which
// it also generates, [Layouts] structs. For tests of packages that are three folders below the kernels' own parent, as
// their neighbours are.
package kerneltest
