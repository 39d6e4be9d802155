// Package cuda is the engine for NVIDIA GPUs, under way: what is here is its lower half, and nothing trains on a GPU yet.
//
// # What is there
//
// Package kernels (cuda/kernels) holds the kernels that the contract of package train/engine fixes to the bit: draw_minibatch draws
// the minibatches of a group of runs and divides them into chunks, one block a run; release_and_update makes the noise,
// releases the sums and lets the optimizer move the parameters, eight coordinates a thread. A step of all runs of a
// group is one launch of each, with the gradients, which are still to come, in between: those leave their clipped sums
// as counts of the fine grid, added up by 64-bit atomics, exactly and so in any order. Step numbers, parameters and
// batches stay on the device; the host launches.
//
// Tests run the kernels on the emulated device (cuda/internal/emulator), where the system's C++ compiler stands in for a
// GPU and every access is watched, and hold draws, chunks, noise and updates to package engine bit for bit; mutants of
// the kernels show that they would be found. The PTX in cuda/kernels/ptx is made by cuda/kernels/build with nvcc 11.8; tests hold it
// to the sources. Package cuda/internal/libcuda opens the driver's library at run time, for one binary with and without a GPU;
// its tests run against a driver made of C. Nothing of this has run on a card yet.
//
// # What is to come
//
// The kernel that walks a step program over a tile of a chunk's samples, evaluation, and the engine that puts them
// together behind train/engine's interface.
package cuda
