// Package walk computes clipped sums of gradients and predictions by an interpreter: each thread block executes a
// program's bytecode, one instruction after another, for a tile of samples. [Lower] compiles a program to bytecode,
// [Program.Load] uploads it with its data to a device, and [Gradients] launches the kernels clipped_sums and predict on
// it.
//
// # Tiles and buffers
//
// The samples of a tile go through the program together, in buffers of the block's own, which package arena lays out.
// There is a barrier between two instructions only if one writes memory that the other reads or writes. Elementwise
// instructions on the same elements need none, because the same thread processes an element in both. So any graph whose
// operations have rules runs without new kernels, and a long program takes more barriers, but not more launches.
//
// # Products
//
// One loop computes all products (product.cuh): matrix products; convolutions, which read patches directly from the
// image, or, if they read beyond its borders, from a copy with zeros around it; the two gradients of both; and the sums
// of clipped gradients, which go from registers to the grid. A warp computes 8 rows of 32 or 128 results, and one
// thread adds up each result in a fixed order. So a sample's gradient doesn't depend on the other samples, nor on the
// number of threads, blocks or devices. Squares for norms are computed and summed in float64.
//
// The same loop computes products of two values of a sample, as in attention, with a batch for each sample and group.
//
// # Values that are the same for all samples
//
// The results of [compile.Program].Prepare are stored among the buffers of a tile. Each list begins with the
// instructions of Prepare that it needs, which see a tile of one sample. A block executes them when it first meets a
// run in a launch, and skips them for the run's other tiles: no later instruction overwrites the results, and
// instructions read them like parameters. So each block computes the same values again. For large derived values and
// few tiles that takes longer than a separate launch.
//
// # Dropout and random nodes
//
// A sample's number in the data, the run and the step name its draws, so they don't depend on its tile. A lane draws a
// block of the stream, for 16 elements, and a warp then takes the elements of 32 blocks side by side. A thread
// draws a block of a random node, and sets its 8 normals, or 16 numbers in [0, 1), by itself.
//
// # Why tiles, why atomics
//
// Blocks share the samples of all runs evenly, and each processes its share in tiles, each of one run's samples. A
// tile's contributions are added up in registers, in integers, and then by one 64-bit atomic addition for each
// coordinate, so that no order matters. An alternative is to keep the factors of all gradients of a batch and to sum
// them in another launch, without atomics. For the CNN that takes 40 KB for each sample, and batches that don't fit in
// memory need another method. The maximum size of a tile is 32, or less where a sample needs much memory, 8 for the
// CNN.
//
// Tensor cores are not used. Operands would have to be rounded to 10 bits before norms are measured, and only a card
// can show whether that is faster here.
//
// # Rows of tables
//
// If samples look up rows of a table ([compile.OfRows]), the gradient of the table isn't materialized, for any length
// of the table. Equal integers of a sample are known from its data: the host sorts the integers once and uploads the
// order with them, two more integers for each. So a thread, or a warp for many rows, can add up the rows with the same
// index, in order and into the first of them, without barriers (op_merge). The result is measured and summed like any
// materialized gradient.
//
// The samples of a tile rarely have a row in common. So each sample's rows are added to the sums by themselves.
//
// A table that is used more than once has a dense gradient in the block's memory. This is correct, but slow for the
// table of a large vocabulary.
package walk
