// Package walk computes clipped sums of gradients and predictions by an interpreter: thread blocks walk through a
// program's bytecode, one instruction after another, and take a chunk of samples with them. [Lower] compiles a program
// to bytecode, [Program.Load] uploads it with its data to a device, and [Gradients] launches the kernels clipped_sums
// and predict there.
//
// # Chunks and buffers
//
// The samples of a chunk go through the program together, in buffers of the block's own, which package arena lays out.
// A barrier stands only between instructions of which one writes what the other touches, and not between elementwise
// ones on the same elements, which are then the same threads'. So any graph whose operations have rules runs without
// new kernels, and a long program costs barriers, not launches.
//
// # Products
//
// One loop makes all products (product.cuh): convolutions, which read patches where they lie in the image, their two
// gradients, and the sums of clipped gradients, which go from registers to the grid. A warp has 8 rows of 32 or 128
// results, each of which one thread adds up in one order: so a sample's gradient depends neither on its company nor
// on the numbers of threads, blocks and devices. Norms are squared and summed in doubles.
//
// # Why chunks, why atomics
//
// A chunk's sum is rounded once, when all its samples are in (package engine, rules 3 and 4). With a chunk for a tile
// it never leaves registers before that, and needs no memory however large a batch is drawn; adding counts of the grid
// by 64-bit atomics is exact, and so free of order. The other way would be to keep the factors of gradients for the
// whole batch and to sum them in a launch of its own, with no atomics: for the CNN that keeps 40 KB a sample, and a
// batch that doesn't fit needs a way out. The maximum size of a chunk depends on the program alone: 32, or less where a
// sample needs much memory, 8 for the CNN.
//
// Tensor cores are not used: rounding operands to 10 bits must be done before norms are measured, and only a card can
// show whether it gains here.
//
// # Rows of tables
//
// If samples pick rows of a table by integers (compile.OfRows), no gradient of the table is materialized, however long
// it is. Which of a sample's integers are equal is known with its data: the host sorts them once and uploads the order
// beside them, two integers more for each. So the rows that go to the same row of the table are added up in order, in
// the first of them, by threads that never wait for each other (op_merge); the result is measured and summed like any
// materialized gradient.
//
// Each sample's rows are added to the grid by themselves, rounded once. A chunk's samples seldom share a row, and
// finding out which they share would cost more than adding twice. The proof of package engine holds: for these
// coordinates each sample is a chunk of its own, so that the sum of the others is the same with and without it.
//
// A table that is used more than once has a dense gradient in the block's memory. For a table of a large vocabulary
// that is slow; it is right.
package walk
