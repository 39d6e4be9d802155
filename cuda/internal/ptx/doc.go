// Package ptx reads the kernels' PTX, NVIDIA's virtual machine code, and translates it to C++ for the emulated device.
// So machines without a GPU test the code that ships, and not only the sources that it was compiled from.
//
// [Parse] reads a module: its kernels, their registers and instructions. [Module.Cpp] translates it to C++ that
// includes emulated_ptx.h of package emulator. [Kernel.Unset] lists registers that some path reads before it writes
// them.
//
// The package is written from the manual ("Parallel Thread Execution ISA", version 7.8), and not from the kernels'
// sources, so that it is a second opinion on them. It knows the forms of instructions that nvcc 11.8 emits for the
// kernels. Any other is an error that names the line and the form: add it to translate.go.
//
// # What is not the hardware's
//
// Every instruction that the manual defines to the bit computes those bits, except which NaN a NaN is. The approximate
// ones, ex2.approx and rcp.approx, are computed in double precision and rounded once; a card may be off by a few units
// in the last place. Times say nothing.
package ptx
