// Package emulator is a device without a GPU: [Build] compiles the sources of kernels with the system's C++ compiler,
// and a [Device] runs them on the CPU, watching every step. It is slow, exact, and for tests.
//
// Kernels include device.cuh, which includes this package's headers where the compiler isn't CUDA's:
//
//	emulated.h         the language of kernels: checked pointers, shared arrays, barriers, warps
//	emulated_device.h  the device: every access is checked here
//	emulated_memory.h  allocations, and what is known of each of their words
//	emulated_fiber.h   stacks, and switching between them
//	emulated_block.h   the threads of a block taking turns
//	emulated_calls.h   the functions that Go calls
//
// [Library.Device] makes devices, which share nothing. A device keeps CUDA's promises to a kernel, and no others:
//
//   - Threads of a block go on in a random order between barriers, as do lanes of a warp between ballots and shuffles,
//     and blocks run in a random order. The seed decides: the same launches with the same seed do the same.
//   - New memory is undefined. Reading it before it is written is a fault, also from the host.
//
// A launch ends at the first fault, with an error of one line: kernel, block, thread, source line, what, and where.
//
//	out of bounds          before, after, far away; also of shared arrays; through a null pointer
//	use after free
//	misaligned
//	never written          read or added to before it was written
//	race                   two threads of a block touch a word with no barrier between, and one of them writes
//	race between blocks    two blocks touch a word in one launch, and one of them writes
//	divergent barrier      threads wait at barriers of different lines, or some have returned
//	divergent warp         lanes wait in different ballots or shuffles, or elsewhere
//	too much shared memory more than the 48 KiB that a block has without asking
//
// Atomic additions are in order with each other and race with everything else. A launch is checked against
// the kernel's parameters: their number and types.
//
// # Limits
//
// Words of 4 bytes are watched: two threads that write neighbouring bytes of a word count as a race, though a GPU
// allows it. Threads run until they wait, so a kernel that polls memory for another thread or block never
// ends. Arrays of a thread's own, integer division by zero and a stack of more than 256 KiB are not checked and end the
// process. Time is not a GPU's in any way, and neither are functions like exp, which are the C library's here.
//
// Compiled kernels are kept in the folder dptrain/emulated of [os.UserCacheDir].
package emulator
