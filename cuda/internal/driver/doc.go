// Package driver is the interface between the CUDA engine and a device: memory, copies and launches. Packages libcuda,
// cu (under the build tag cu) and emulator implement [Device], so that everything above it is tested on machines
// without a GPU. Package drivertest tests the first two there.
//
// It is the driver's own interface with the choices taken out: one stream, on which everything happens in order;
// launches in one dimension; kernels by name.
//
// A [Pointer] is an address in a device's memory. [Upload], [Download] and [New] move slices of numbers; [Memory] is
// allocations that are freed together; [StructOf] makes an argument of a struct. [Arguments] is for implementations: it
// turns the arguments of Launch into the words that a kernel gets.
package driver
