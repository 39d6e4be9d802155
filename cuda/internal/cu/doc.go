// Package cu drives NVIDIA GPUs through gorgonia.org/cu, which is linked with the driver's library: the choice of those
// who build with a CUDA toolkit and want nothing opened at run time. It is built under the tag cu,
//
//	go build -tags cu ./cmd/dptrain
//
// where it takes the place of package libcuda and does the same. Without the tag it is empty, and nothing imports
// gorgonia.org/cu: builds need no toolkit then, and their programs run on machines without a GPU.
//
// # What it needs
//
// To build: cgo, a C compiler, and CUDA's headers and libcuda, either the driver's own or the toolkit's stub, where
// gorgonia.org/cu looks for them (CGO_CFLAGS=-I... and CGO_LDFLAGS=-L... name other places). It is compiled with the
// toolkit 11.8, which Debian packages as nvidia-cuda-toolkit; cuda/kernels/build --install gets it. That of CUDA 13 is
// not expected to compile: its cuCtxCreate, which gorgonia.org/cu v0.9.6 calls, takes one argument more. The driver may
// be newer than the toolkit.
//
// To run: a driver and a GPU, whatever the program is to do. Where cuInit fails, gorgonia.org/cu prints why and ends
// the process with exit status 1 before main begins, so that no error of this package is a driver.ErrNoDriver.
//
// It has run on a driver made of C (package drivertest), with the toolkit's headers, and on no GPU yet.
//
// The tag cuda is another one, which Gorgonia has for its own kernels. Nothing here is built with it.
//
// # How it uses gorgonia.org/cu
//
// By its plain functions, on a thread that has the device's primary context, as package libcuda does: its type Ctx
// makes a context of its own, passes every call to another goroutine, and panics where none can be made. Errors have
// gorgonia.org/cu's names for the driver's codes, not the driver's texts. Launches call cuLaunchKernel directly:
// gorgonia.org/cu's copies 8 bytes of each argument, and a struct has more.
package cu
