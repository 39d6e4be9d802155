// Package cpu is the engine that every other engine is measured against: it runs step programs on the
// cores of this machine, by the contract of package engine.
//
// # How a step is computed
//
// A run's batch is divided into chunks, and chunks are handed to workers, one a core. A worker takes the samples of a
// chunk through the whole program in blocks, small enough that a block's buffers stay in its core's cache, and adds up
// their clipped gradients; the chunk's sum then goes onto the grid and into the worker's accumulator. When all chunks
// are done the accumulators are added, exactly, span by span of the parameters, and each span is released and moves its
// parameters. The number of workers changes nothing, to the last bit.
//
// Of a table whose rows samples pick a chunk touches few. They are listed, and only they are rounded, added and
// cleared; a sample's own rows of one index are added up first, in the room of the first of them. Noise and update are
// of the whole table in every step, and are most of what a step on few texts takes.
//
// # How runs share the cores
//
// As many runs advance at once as there are cores. A run borrows its workers for each step, as many as the cores give
// each run under way, so that trials go one to a core and the last ones, or a final run alone, have all of them.
// Workers hold what is large (a block's buffers, sums); a run holds its parameters, and the forms of them that the
// program reads.
//
// # One sample at a time
//
// [OneByOne] is the engine for graphs with an operation that no rule knows. Gorgonia evaluates the graph and its own
// gradient for each sample; sampling, clipping, sums, noise and update are the same code.
//
// # When something panics
//
// A panic in a worker would end the process, past any recover of its caller, and print what may be a sample's values.
// It becomes an error of the run that names the function and nothing else. The run then takes no step until it is
// restored; other runs go on.
package cpu
