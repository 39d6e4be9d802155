// Package cuda is the engine for NVIDIA GPUs: [New] opens them and returns an [Engine] for package train. The engine
// fulfils the contract of package engine. Machines without a GPU test all of it on an emulated device. It hasn't run on
// a card yet, so the times below are predictions.
//
// # A step
//
// A step of all runs of a group takes four launches, for any number of runs and any length of the program:
//
//	draw_members        draws which members are in each run's minibatch, a bit for each
//	draw_minibatch      lists each run's minibatch and divides it into chunks, on a block for each run
//	clipped_sums        blocks share the chunks of all runs: a block computes the gradients of a chunk's samples,
//	                    measures them, and adds the chunk's clipped sum, on the fine grid, to the run's
//	release_and_update  draws the noise, releases the sums and lets the optimizer move the parameters, eight
//	                    coordinates a thread
//
// Data, programs, parameters, moments, step numbers, minibatches, sums and noise stay on the device. The host launches
// kernels, and checks every 20 ms that the device hasn't failed and that the context isn't cancelled. It copies a run's
// state when the caller asks for it. Outputs for scoring are computed on the device too (predict); the host computes
// scores from these few numbers for each sample.
//
// # Gradients
//
// Everything that depends on how gradients are computed is behind one interface, gradients: the kernels clipped_sums
// and predict, and the program and data that they read. Package cuda/internal/walk implements it, by an interpreter of
// bytecode. Draws, releases, states and polling are in this package and the same for any implementation.
//
// # Predictions
//
// For one step of the paper's workloads at sampling rate 0.0213, 0.0256 for imdb, the table lists the multiply-adds
// that are needed; those that are executed (rows are padded to eight and columns to lanes); additions to the grid if
// none is 0; coordinates that get noise; a block's memory; and the floor, a minimum time that these give on an H100.
// The floor counts 2 µs for a launch; the multiply-adds of the busiest of 132 multiprocessors, at 128 a cycle and 1.755
// GHz; additions to the grid, at 80 a cycle, which is a guess; and 24 bytes for each coordinate's update, at 3.35 TB/s.
//
//	     a step of  launches chunks  samples      needs   executes   atomics   noise    memory   floor
//	cnn  15 trials         4    346     1916     2.33 G     2.65 G     9.0 M   0.4 M    827 KB  213 µs
//	cnn  final run         4    209     1154     1.40 G     1.60 G     5.4 M   0.0 M    827 KB  141 µs
//	mlp  15 trials         4     90     1916     0.45 G     0.50 G     9.9 M   1.6 M    104 KB  125 µs
//	mlp  final run         4     56     1154     0.27 G     0.30 G     6.1 M   0.1 M    104 KB   87 µs
//	imdb 15 trials         4     96      964     0.00 G     0.00 G     4.0 M   7.0 M    787 KB   86 µs
//	imdb final run         4     52      580     0.00 G     0.00 G     2.4 M   0.5 M    787 KB   28 µs
//
// A tuning has 1,878 steps of each kind, so its floor is 0.7 s for the CNN and 0.4 s for the MLP. For the texts of imdb
// it has 4,297, and the floor is 0.5 s. Reasons why a card takes longer:
//
//   - A step of a convolution's loop, 32 multiply-adds a lane, takes some 110 instructions: for each number of a patch
//     it computes the position in the image, and whether that is inside the image.
//   - A warp computes eight rows at a time: the CNN's product of 512 by 32 keeps one warp busy, while the seven others
//     of the block wait.
//   - A multiprocessor has registers for one block of 8 warps, which hide little latency.
//   - The CNN's blocks together have twice the memory of the level-2 cache, 50 MB.
//   - With 56 chunks 76 multiprocessors have none.
//   - A coordinate's noise and update take a thread some 290 instructions, as ptxas compiles them for DP-SGD. That is a
//     few microseconds for the CNN, and 70 µs for 15 trials on texts, where every row of the embedding table gets noise
//     in every step.
//   - The table leaves out the 20,000 numbers or so that texts multiply elementwise, copy and merge for each sample:
//     the blocks wait for memory meanwhile, and the one thread that merges the rows of the padding token reads all of
//     them.
//
// Two to four times the floor is likely. Tests check the emulated device's counts against these figures.
//
// # Drivers
//
// Package cuda/internal/driver is the interface to a device. Three packages implement it: cuda/internal/libcuda opens
// the driver's own library at run time, so that one ordinary binary serves machines with and without a GPU;
// cuda/internal/cu calls gorgonia.org/cu, under the build tag cu, for builds with the CUDA toolkit;
// cuda/internal/emulator is the emulated device, which checks every memory access. It runs the committed PTX, which
// package cuda/internal/ptx translates to C++, and kernels compiled from their sources.
//
// # Several GPUs, little memory, failures
//
// A group's runs are spread over the engine's GPUs, which must be of one compute capability. If memory is short, the
// engine uses fewer blocks or advances fewer runs at a time, and calls Options.Warn. No result depends on it. If a
// launch fails, the error is a [DeviceError]. It ends the runs of that GPU, in the states that were read last, and no
// others.
//
// # Tests
//
// What ships is tested: the suite of package enginetest runs the committed PTX on the emulated device, draws, noise and
// updates are checked against package engine bit for bit, and mutants of the kernels must be found, of their sources
// and, with -whole, of the PTX. cuda/kernels/build makes the PTX in cuda/kernels/ptx with nvcc 11.8; tests check that
// it was made of the sources, and that both compute the same bits. "go test ./cuda -whole" runs the suite in full. On a
// machine with a GPU "make gpu-test" runs the suite on it, and bench/gpu/run does that and measures.
package cuda
