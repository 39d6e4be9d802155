// Package cuda is the engine for NVIDIA GPUs: [New] opens them and returns an [Engine] for package train. The engine
// fulfils the contract of package engine. Machines without a GPU test all of it on an emulated device. It hasn't run on
// a card yet, so the times below are predictions.
//
// # A step
//
// A step of all runs of a group takes two launches, for any number of runs and any length of the program, after a
// launch that draws minibatches for up to 64 steps:
//
//	draw_minibatches    lists the minibatches of some steps of all runs, on a block for each list
//	clipped_sums        blocks share the samples of all runs evenly: a block computes the gradients of a tile of
//	                    samples, measures them, and adds what they contribute, rounded to the fine grid, to the run's
//	                    sums
//	release_and_update  draws the noise, releases the sums and lets the optimizer move the parameters, eight
//	                    coordinates a thread
//
// If a job's caller moves the parameters (engine.Job.Move), release_and_update moves nothing but a row of zeros, by the
// noisy mean gradient. The host reads the row, calls Move, and uploads the parameters: a few copies and a wait for each
// step. Such runs take their steps after the other runs of a group have taken theirs.
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
// For one step of the paper's workloads at sampling rate 0.0213, 0.0256 for imdb, the table lists the needed and the
// executed multiply-adds (rows are padded to eight and columns to lanes); additions to the sums if none is 0;
// coordinates that get noise; a block's memory; and cycles, in millions: for gradients the cycles of the busiest of an
// H100's 132 multiprocessors, and the mean; the rest, draws and updates, is shared evenly. The emulated device counts
// cycles in the committed PTX: a warp's instructions are issued by one of four schedulers, one a cycle, and between two
// barriers the busiest scheduler counts. The time is these cycles at 1.755 GHz plus 2 µs for a launch, or the additions
// to the grid, at a guessed 80 a cycle, if they take longer.
//
//	     a step of  tiles samples    needs executes atomics  noise  memory gradients    (mean)    rest     time
//	cnn  15 trials    265    1924   2.34 G   2.62 G   6.9 M  0.4 M  846 KB    0.49 M    0.46 M  0.01 M   290 µs
//	cnn  final run    229    1155   1.41 G   1.59 G   6.0 M  0.0 M  846 KB    0.31 M    0.29 M  0.00 M   182 µs
//	mlp  15 trials    140    1924   0.45 G   0.49 G  15.4 M  1.6 M  127 KB    0.14 M    0.13 M  0.03 M   113 µs
//	mlp  final run    132    1155   0.27 G   0.37 G  14.5 M  0.1 M  127 KB    0.10 M    0.09 M  0.00 M   107 µs
//	imdb 15 trials    134     970   0.00 G   0.00 G   4.0 M  7.0 M  787 KB    0.10 M    0.09 M  0.11 M   123 µs
//	imdb final run    131     580   0.00 G   0.00 G   2.4 M  0.5 M  787 KB    0.06 M    0.06 M  0.01 M    44 µs
//
// A tuning has 1,878 steps of each kind of the CNN and the MLP, and 4,297 of imdb's texts. Reasons why a card takes
// longer:
//
//   - A scheduler waits for registers and memory. A multiprocessor has registers for one block of 8 warps, two for each
//     scheduler, which hide little latency.
//   - The number of machine instructions for an instruction of PTX is known for the loops of products, to a sixth, and
//     guessed elsewhere (ptx.Kernel.Issues).
//   - The CNN's blocks together have twice the memory of the level-2 cache, 50 MB.
//
// Networks of other kinds (package enginetest's Architectures), for one sample: instructions of the program, needed and
// executed multiply-adds, samples in a tile and a block's memory. "go test ./cuda -run - -bench Architectures" counts
// their cycles.
//
//	             instructions    needs executes     tile  memory
//	attention              92   3.58 M   3.58 M        8  1.9 MB
//	gru                   811   0.67 M   0.67 M        8  0.7 MB
//	layer norm             37   0.61 M   0.61 M       32  0.4 MB
//	residual cnn          115   3.62 M   4.25 M        8  3.6 MB
//
// "go test ./cuda -run - -bench Cycles" shows the cycles of each instruction of a program:
//
//   - A step of a convolution's loop, 32 multiply-adds a lane, takes 51 instructions, 54 in its backward pass and 46 to
//     71 in its filters' gradients. In the sums of clipped gradients it takes 119, 32 of them to count.
//     cuda/kernels/ptx/loops.txt has all loops.
//   - The MLP's time is the time of its additions to the sums: every block adds to each of 109,000 parameters.
//   - A coordinate's noise and update take a thread some 290 instructions. That is a few microseconds for the CNN, and
//     70 µs for 15 trials on texts, where every row of the embedding table gets noise in every step.
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
// launch fails, the error is a [DeviceError]. It ends the runs of that GPU, in the states that were read last. Other
// runs go on.
//
// # Tests
//
// What ships is tested: the suite of package enginetest runs the committed PTX on the emulated device, draws, noise and
// updates are checked against package engine bit for bit, and mutants of the kernels and of the PTX must be found: make
// test-all tries them and the suite in full, and make test tries them where kernels or suite have changed.
// cuda/kernels/build makes the PTX in cuda/kernels/ptx with nvcc 11.8, and machine code of it for compute capabilities
// 7.5, 8, 9, 10 and 12; tests check that they were made of the sources, and that both compute the same bits.
// On a machine with a GPU "make gpu-test" runs the suite on it, and bench/gpu/run does that and measures.
package cuda
