// Package emulator is a device without a GPU: [Build] compiles kernels with the system's C++ compiler, and a [Device]
// runs them on the CPU and checks every memory access. It is for tests: slow, but exact.
//
// Kernels are CUDA sources that include device.cuh, or C++ that package cuda/internal/ptx has translated from PTX. They
// include this package's headers:
//
//	emulated.h         the language of kernels: checked pointers, shared arrays, barriers, warps
//	emulated_ptx.h     the instructions of PTX
//	emulated_device.h  the device: every access is checked here
//	emulated_memory.h  allocations, and a record of the accesses to each of their words
//	emulated_fiber.h   stacks, and switching between them
//	emulated_block.h   the threads of a block taking turns
//	emulated_calls.h   the functions that Go calls
//
// [Library.Device] makes devices, which share nothing. A device guarantees to a kernel what CUDA guarantees, and
// nothing else:
//
//   - Threads of a block run in a random order between barriers, lanes of a warp in a random order between ballots and
//     shuffles, and blocks in a random order. The seed determines the orders: the same launches with the same seed give
//     the same results.
//   - New memory is undefined. Reading it before it is written is a fault, even by the host.
//
// A launch ends at the first fault, with an error of one line: kernel, block, thread, source line, kind of fault, and
// address.
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
// Atomic additions don't race with each other, but they race with every other access. A launch is checked against the
// kernel's parameters: their number and types.
//
// # Limits
//
// Accesses are recorded in words of 4 bytes: if two threads write different bytes of one word, that counts as a race,
// though a GPU allows it. Threads run until they wait, so a kernel that polls memory for another thread or block never
// ends. In kernels compiled from sources, arrays of a thread's own and integer division by zero are not checked. A
// stack of more than 256 KiB ends the process. Times say nothing about a GPU. Functions like exp are those of the C
// library and may differ from a GPU's.
//
// Compiled kernels are kept in the folder dptrain/emulated of [os.UserCacheDir].
package emulator
