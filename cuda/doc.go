// Package cuda is the engine for NVIDIA GPUs, by the contract of package engine. A machine without one builds and tests all of
// it, on an emulated device. Nothing of it has run on a card yet: what is said here of a card's time is a prediction.
//
// # A step
//
// A step of all runs of a group is four launches, whatever the number of runs and the length of the program:
//
//	draw_members        draws who is in each run's minibatch, a bit for each
//	draw_minibatch      a block for each run writes the minibatch down and divides it into chunks
//	clipped_sums        blocks share the chunks of all runs: one takes a chunk's samples through the program, measures
//	                    their gradients, and adds the chunk's clipped sum, on the fine grid, to the run's
//	release_and_update  makes the noise, releases the sums and lets the optimizer move the parameters, eight
//	                    coordinates a thread
//
// Data, programs, parameters, moments, step numbers, minibatches, sums and noise stay on the device. The host launches, looks
// every 20 ms whether the device is well and the caller still wants it, and copies a run's state when it is asked for. Outputs
// for scoring are computed there too (predict); what is counted from them is a few numbers a sample and the host's.
//
// # The walk
//
// Thread blocks are workers, as cores are to the CPU engine. A program is data (lower.go writes its words, program.cuh has
// their meaning), so that any graph whose operations have rules runs without new code, and a long program costs barriers, not launches. The samples of a chunk go through it together, one instruction after another, in memory of the block's own, which is
// laid out by package arena. Where neighbouring
// instructions don't meet in memory, or are elementwise on the same elements, which are then the same threads', nobody waits between them.
//
// One loop makes all products (product.cuh): convolutions, whose patches are read where they lie in the image, their
// two gradients, and the sums of clipped gradients, which go from registers to the grid. A warp has 8 rows of 32 or 128
// results, each of which one thread adds up in one order: so a sample's gradient depends neither on its company nor
// on the numbers of threads, blocks and devices. Norms are squared and summed in doubles.
//
// # Why the chunk, why atomics
//
// A chunk's sum is rounded once, when all its samples are in (package engine, rules 3 and 4). With a chunk for a tile it never
// leaves registers before, and needs no memory however large a batch is drawn; adding counts of the grid by 64-bit
// atomics is exact, and so free of order. The other way would be to keep what gradients are made of for the whole batch
// and to sum it in a launch of its own, with no atomics: for the CNN that keeps 40 KB a sample, and a batch that is
// larger than the room for it needs a way out. The most samples of a chunk depend on the program alone: 32, or fewer
// where a sample needs much memory, 8 for the CNN.
//
// Tensor cores are not used: rounding operands to 10 bits must be done before norms are measured, and whether it gains here
// only a card can tell.
//
// # Rows of tables
//
// Of a table whose rows a sample picks by integers (compile.OfRows) no gradient is formed, however long the table. Which of a sample's
// integers are equal is known as soon as its data are: the host sorts them once and uploads the order beside them, two integers more
// for each. So the rows that go to the same row of the table are added up in their order, in the first of them, by threads that never wait
// for each other (op_merge); what that leaves is measured and summed as any gradient that was formed.
//
// Of such rows each sample's are added to the grid by themselves, rounded once, and nothing where nothing was picked. A chunk's
// samples seldom share a row, and to find out which they share would cost more than to add twice. The proof of package engine takes it:
// for these coordinates each sample is a chunk of its own, so that what others add is the same with and without it.
//
// A table that is used more than once has its gradient formed, dense, in the block's memory. For a table of a large vocabulary that is
// slow; it is right.
//
// # Predictions
//
// For one step of the paper's workloads at sampling rate 0.0213, 0.0256 for imdb: what needs to be multiplied and added, what is executed (rows go by
// eight and columns by lanes), additions to the grid if none is 0, coordinates that get noise, a block's memory, and the floor that they give on an H100: 2 µs a launch, the
// multiply-adds of the busiest of 132 multiprocessors at 128 a cycle and 1.755 GHz, 80 additions to the grid a cycle, which is a guess, and 24 bytes
// of 3.35 TB/s for each coordinate's update:
//
//	     a step of  launches chunks  samples      needs   executes   atomics   noise    memory   floor
//	cnn  15 trials         4    346     1916     2.33 G     2.65 G     9.0 M   0.4 M    827 KB  213 µs
//	cnn  final run         4    209     1154     1.40 G     1.60 G     5.4 M   0.0 M    827 KB  141 µs
//	mlp  15 trials         4     90     1916     0.45 G     0.50 G     9.9 M   1.6 M    104 KB  125 µs
//	mlp  final run         4     56     1154     0.27 G     0.30 G     6.1 M   0.1 M    104 KB   87 µs
//	imdb 15 trials         4     96      964     0.00 G     0.00 G     4.0 M   7.0 M    787 KB   86 µs
//	imdb final run         4     52      580     0.00 G     0.00 G     2.4 M   0.5 M    787 KB   28 µs
//
// A tuning has 1,878 steps of each kind, so that the floor is 0.7 s for the CNN and 0.4 s for the MLP, and 4,297 for the texts of imdb: 0.5 s. It
// will not be reached:
//
//   - A step of a convolution's loop, 32 multiply-adds a lane, takes some 110 instructions: where in the image a patch's number
//     lies, and whether it does, is found anew for each.
//   - Eight rows make one warp's work: the CNN's product of 512 by 32 is one, while seven others of the block wait.
//   - A multiprocessor has registers for one block of 8 warps, which hide little latency.
//   - The CNN's blocks together have twice the memory of the level-2 cache, 50 MB.
//   - Of 56 chunks 76 multiprocessors have none.
//   - A coordinate's noise and update take a thread some 290 instructions, by what ptxas makes of them for DP-SGD: microseconds for the CNN,
//     70 µs for 15 trials over texts, where every row of the table gets noise in every step.
//   - What texts multiply elementwise, copy and merge, some 20,000 numbers a sample, isn't in the table: their blocks wait for memory, and a
//     thread that merges padding goes through all of it.
//
// Two to four times the floor is what that makes likely. Tests hold the emulated device's counts to these figures.
//
// # Drivers
//
// Package cuda/internal/driver is all that is asked of a device. Three implement it: cuda/internal/libcuda opens the driver's own library at
// run time, so that one ordinary binary serves machines with and without a GPU; cuda/internal/cu is gorgonia.org/cu, under the build
// tag cu, for those who build with the CUDA toolkit; cuda/internal/emulator is the emulated device, where the system's C++
// compiler stands in for a GPU and every access is watched.
//
// # Several GPUs, little memory, failures
//
// A group's runs are spread over the engine's GPUs, which must be of one compute capability. Where memory is short, fewer blocks work, or
// fewer runs advance at a time, and [Options].Warn is told; no result depends on it. A launch that fails is a [DeviceError]: it ends the runs of that
// GPU where their states were last asked for, and no others.
//
// # Tests
//
// The suite of package enginetest runs on the emulated device, draws, noise and updates are held to package engine bit for bit, and mutants of
// the kernels must be found. The PTX in cuda/kernels/ptx is made by cuda/kernels/build with nvcc 11.8; tests hold it to the sources. On a
// machine with a GPU "make gpu-test" runs the suite on it, and bench/gpu/run does that and measures.
package cuda
