// Package libcuda drives NVIDIA GPUs through the driver's own library, which [System] opens at run time: one binary
// serves machines with and without a GPU, needs no CUDA toolkit, and reports missing parts.
//
// Functions are bound by the versioned names of the driver interface (cuMemAlloc_v2), which stay the same when headers
// change. Drivers of CUDA 11 and newer have all of them. A device has one context, its primary one, and everything on
// it goes through one stream in order.
package libcuda
