// Package driver is the interface between the CUDA engine and a device: memory, copies and launches. Packages libcuda,
// cu (under the build tag cu) and emulator implement [Device], so that its users can be tested on machines without a
// GPU. Package drivertest tests libcuda and cu on such machines.
//
// It is a small part of the CUDA driver's interface: one stream, on which everything happens in order; launches in one
// dimension; kernels by name.
//
// A [Pointer] is an address in a device's memory. [Upload], [Download] and [New] move slices of numbers; [Memory] holds
// allocations that are freed together; [StructOf] turns a struct into an argument. Implementations call [Arguments] to
// turn the arguments of Launch into the words that a kernel gets.
package driver
