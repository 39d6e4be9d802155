// Package kernels holds the source of what runs on a device: CUDA's C++ in files that also compile as plain C++.
//
// device.cuh is the language. It gives the words that kernels may use of a device, and kernels use nothing else of it.
// Compiled by CUDA's compiler, these words are CUDA's. Compiled by any C++17 compiler, they are
// those of the emulated device:
//
//	emulated.h         the words, as kernels see them: checked pointers, shared arrays, barriers, warps
//	emulated_device.h  what is behind them: every access is checked here
//	emulated_memory.h  allocations and what is known of each of their words
//	emulated_fiber.h   stacks to switch between
//	emulated_block.h   the threads of a block, taking turns
//	emulated_calls.h   what a program calls
//
// The .cu files are kernels, each file compiled by itself. Go knows all of it as text only ([Files]): package
// cuda/internal/emulator compiles and runs it on machines without a GPU.
package kernels
