// Package cuda is the engine for NVIDIA GPUs: [New] opens them, and package train takes the [Engine] that it returns.
// It keeps the contract of package engine. On a machine without a GPU all of it is tested on an emulated device. It
// hasn't run on a card yet: what is said here of a card's time is a prediction.
//
// # A step
//
// A step of all runs of a group is four launches, whatever the number of runs and the length of the program:
//
//	draw_members        draws which members are in each run's minibatch, a bit for each
//	draw_minibatch      lists each run's minibatch and divides it into chunks, on a block for each run
//	clipped_sums        blocks share the chunks of all runs: a block computes the gradients of a chunk's samples,
//	                    measures them, and adds the chunk's clipped sum, on the fine grid, to the run's
//	release_and_update  draws the noise, releases the sums and lets the optimizer move the parameters, eight
//	                    coordinates a thread
//
// Data, programs, parameters, moments, step numbers, minibatches, sums and noise stay on the device. The host launches,
// checks every 20 ms that the device is well and that the caller still wants the steps, and copies a run's state when
// it is asked for. Outputs for scoring are computed on the device too (predict); the host computes scores from them, a
// few numbers a sample.
//
// # Gradients
//
// One interface, gradients, has all of a step that depends on how gradients are computed: clipped_sums and predict, and
// the program and data that they read. Package cuda/internal/walk implements it, by an interpreter of bytecode. Draws,
// releases, states and polling are this package's, for any implementation.
//
// # Predictions
//
// For one step of the paper's workloads at sampling rate 0.0213, 0.0256 for imdb, the table has: the multiply-adds that
// are needed; those that are executed (rows go by eight and columns by lanes); additions to the grid if none is 0;
// coordinates that get noise; a block's memory; and the floor that these give on an H100: 2 µs a launch, the
// multiply-adds of the busiest of 132 multiprocessors at 128 a cycle and 1.755 GHz, 80 additions to the grid a cycle,
// which is a guess, and 24 bytes of 3.35 TB/s for each coordinate's update:
//
//	     a step of  launches chunks  samples      needs   executes   atomics   noise    memory   floor
//	cnn  15 trials         4    346     1916     2.33 G     2.65 G     9.0 M   0.4 M    827 KB  213 µs
//	cnn  final run         4    209     1154     1.40 G     1.60 G     5.4 M   0.0 M    827 KB  141 µs
//	mlp  15 trials         4     90     1916     0.45 G     0.50 G     9.9 M   1.6 M    104 KB  125 µs
//	mlp  final run         4     56     1154     0.27 G     0.30 G     6.1 M   0.1 M    104 KB   87 µs
//	imdb 15 trials         4     96      964     0.00 G     0.00 G     4.0 M   7.0 M    787 KB   86 µs
//	imdb final run         4     52      580     0.00 G     0.00 G     2.4 M   0.5 M    787 KB   28 µs
//
// A tuning has 1,878 steps of each kind, so that the floor is 0.7 s for the CNN and 0.4 s for the MLP, and 4,297 for
// the texts of imdb: 0.5 s. Reasons not to reach it:
//
//   - A step of a convolution's loop, 32 multiply-adds a lane, takes some 110 instructions: it computes for each number
//     of a patch where in the image it is, and whether it is there.
//   - Eight rows make one warp's work: the CNN's product of 512 by 32 is one, while seven others of the block wait.
//   - A multiprocessor has registers for one block of 8 warps, which hide little latency.
//   - The CNN's blocks together have twice the memory of the level-2 cache, 50 MB.
//   - With 56 chunks 76 multiprocessors have none.
//   - A coordinate's noise and update take a thread some 290 instructions, as ptxas compiles them for DP-SGD:
//     microseconds for the CNN, 70 µs for 15 trials over texts, where every row of the table gets noise in every step.
//   - The table leaves out the 20,000 numbers or so that texts multiply elementwise, copy and merge for each sample:
//     their blocks wait for memory, and a thread that merges padding goes through all of it.
//
// Two to four times the floor is likely. Tests check the emulated device's counts against these figures.
//
// # Drivers
//
// Package cuda/internal/driver is the interface to a device. Three packages implement it: cuda/internal/libcuda opens
// the driver's own library at run time, so that one ordinary binary serves machines with and without a GPU;
// cuda/internal/cu is gorgonia.org/cu, under the build tag cu, for builds with the CUDA toolkit; cuda/internal/emulator
// is the emulated device, which runs kernels compiled by the system's C++ compiler and watches every access.
//
// # Several GPUs, little memory, failures
//
// A group's runs are spread over the engine's GPUs, which must be of one compute capability. If memory is short, fewer
// blocks work, or fewer runs advance at a time, and [Options].Warn is told; no result depends on it. A launch that
// fails is a [DeviceError]: it ends the runs of that GPU, in the states that were last asked for, and no others.
//
// # Tests
//
// The suite of package enginetest runs on the emulated device, draws, noise and updates are checked against package
// engine bit for bit, and mutants of the kernels must be found. cuda/kernels/build makes the PTX in cuda/kernels/ptx
// with nvcc 11.8; tests check it against the sources. On a machine with a GPU "make gpu-test" runs the suite on it, and
// bench/gpu/run does that and measures.
package cuda
