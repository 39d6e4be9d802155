// Package cu drives NVIDIA GPUs through gorgonia.org/cu, which is linked with the driver's library. Choose it to build
// with a CUDA toolkit and to open no library at run time. It is built under the tag cu,
//
//	go build -tags cu ./cmd/dptrain
//
// and replaces package libcuda there. Without the tag it is empty and nothing imports gorgonia.org/cu: the build needs
// no toolkit, and the program runs on machines without a GPU.
//
// # What it needs
//
// To build: cgo, a C compiler, and CUDA's headers and libcuda, either the driver's own or the toolkit's stub, where
// gorgonia.org/cu looks for them (CGO_CFLAGS=-I... and CGO_LDFLAGS=-L... name other places). It compiles with toolkit
// 11.8, which Debian packages as nvidia-cuda-toolkit; cuda/kernels/build --install gets it. It probably doesn't compile
// with the toolkit of CUDA 13, whose cuCtxCreate, which gorgonia.org/cu v0.9.6 calls, has one more parameter. The
// driver may be newer than the toolkit.
//
// To run: a driver and a GPU, even for commands that don't use the GPU. If cuInit fails, gorgonia.org/cu prints the
// reason and ends the process with exit status 1 before main begins. So no error of this package is a
// driver.ErrNoDriver.
//
// It has run on a fake driver written in C (package drivertest), with the toolkit's headers. It hasn't run on a GPU
// yet.
//
// The tag cuda is a different tag, for Gorgonia's own kernels. Nothing here is built with it.
//
// # How it uses gorgonia.org/cu
//
// Like package libcuda it calls plain functions on a thread that has the device's primary context. It doesn't use
// gorgonia.org/cu's type Ctx, which makes another context, passes every call to another goroutine, and panics if it
// can't make a context. Errors have gorgonia.org/cu's names for the driver's codes, not the driver's texts. Launches
// call cuLaunchKernel directly, because gorgonia.org/cu's launch copies 8 bytes of each argument and a struct has more.
package cu
