// Package kernels holds the source of what runs on a device: CUDA's C++ in files that also compile as plain C++.
//
// device.cuh is the language. It gives the words that kernels may use of a device, and kernels use nothing else of it.
// Compiled by CUDA's compiler, these words are CUDA's. Compiled by any C++17 compiler, they are those of the emulated
// device:
//
//	emulated.h         the words, as kernels see them: checked pointers, shared arrays, barriers, warps
//	emulated_device.h  what is behind them: every access is checked here
//	emulated_memory.h  allocations and what is known of each of their words
//	emulated_fiber.h   stacks to switch between
//	emulated_block.h   the threads of a block, taking turns
//	emulated_calls.h   what a program calls
//
// Some habits make a source good for both:
//
//   - An element has to get a type before it is used twice or handed to a template: float x = p[i], not auto. In CUDA auto
//     is a copy; here the compiler refuses it. Of an element that is a struct, take a copy before its fields.
//   - global<T> knows p[i], p + i, and comparison with nullptr. Shared arrays are global<T>, too; pass them on as such.
//   - atomic_add is for int, unsigned and unsigned long long. uint64_t may be another type of the same size.
//   - Parameters are global<T>, float, double, and integers of 4 and 8 bytes.
//   - Bytes of one word of 4 belong to one thread between two barriers: the emulated device watches words.
//   - No thread waits for another but at barriers, ballots and shuffles.
//
// The .cu files are kernels, each file compiled by itself. Go knows all of it as text only ([Files]): package
// cuda/internal/emulator compiles and runs it on machines without a GPU.
package kernels
