// Package openblas keeps OpenBLAS on the calling thread. It is empty unless built with the tag openblas.
//
// It is apart from package kernel because a package with assembly can't hold cgo.
package openblas
