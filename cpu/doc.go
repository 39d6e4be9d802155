// Package cpu is the engine that runs step programs on the cores of this machine, by the contract of package engine.
// [New] returns it. Tests check every other engine against it.
//
// # How a step is computed
//
// A run's batch is divided into chunks, which workers, one a core, take in turn. A worker takes the samples of a chunk
// through the whole program in microbatches, small enough that their buffers stay in its core's cache, and adds up
// their clipped gradients; it rounds the chunk's sum to the grid and adds it to its accumulator. After the last chunk
// the accumulators are added, exactly, span by span of the parameters, and each span gets its noise and moves its
// parameters. The number of workers changes no bit.
//
// A chunk touches few rows of a table that samples index. It lists them, and only they are rounded, added and cleared;
// a sample's own rows with one index are added up first. Every step adds noise to the whole table and updates it, which
// takes most of the time of a step on few texts.
//
// # How runs share the cores
//
// As many runs advance at once as there are cores. A run borrows its workers for each step, as many as its share of the
// cores, so that trials take one core each, and the last ones, or a final run alone, have all cores. Workers hold what
// is large, a microbatch's buffers and sums; a run holds its parameters, in the forms that the program reads.
//
// # One sample at a time
//
// [OneByOne] returns an engine for graphs with an operation that has no rule. Gorgonia evaluates the graph and its own
// gradient for each sample; sampling, clipping, sums, noise and update are the same code.
//
// # When something panics
//
// A panic in a worker would end the process, past any recover of its caller, and print what may be a sample's values.
// It becomes an error of the run that names the panicking function and nothing else. The run then takes no step until
// it is restored; other runs continue.
package cpu
