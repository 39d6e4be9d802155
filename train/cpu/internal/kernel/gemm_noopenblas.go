//go:build !openblas

package kernel

var openBLAS []product
