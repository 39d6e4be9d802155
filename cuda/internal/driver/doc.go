// Package driver is what the CUDA engine asks of a device, and all it asks: memory, copies and launches. A GPU behind
// package libcuda, or cu under the build tag cu, and the emulated device of package emulator all implement [Device], so that
// all above it is tested on machines without a GPU. Package drivertest holds the first two to it there.
//
// It is the driver's own interface with the choices taken out: one stream, on which everything happens in order; launches
// in one dimension; kernels by name.
//
// A device owns its memory; [Pointer] says where in it. [Upload], [Download] and [New] move slices of numbers.
// [Arguments] is for implementations: it turns what was passed to Launch into the words that a kernel gets.
package driver
