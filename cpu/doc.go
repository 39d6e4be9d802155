// Package cpu is the engine that runs step programs on the cores of this machine, by the contract of package engine.
// [New] returns it. Tests check every other engine against it.
//
// # How a step is computed
//
// A run's batch is divided into shares. There is one worker for each core, and the next free worker takes the next
// share. It takes the share's samples through the whole program in microbatches, small enough that their buffers stay
// in its core's cache, unless the parameters don't fit it either: then large enough to read these seldom. It adds up
// the samples' contributions: each product is rounded to the grid and counted in whole numbers. After the last share
// the workers divide the parameters into spans. For each span one worker adds up all workers' sums, which is exact,
// adds the noise and updates the parameters. The number of workers changes no bit of the result.
//
// Spans are processed in blocks, so small that their counts, normals and parameters stay in the first-level cache from
// one kernel to the next. Kernels repeat package engine's definitions operation by operation, to the same bits.
//
// Samples touch few rows of an embedding table. A worker lists these rows, and adds no others. If a sample has several
// rows with one index, they are added up first. Every step adds noise to the whole table and updates it. That takes
// most of the time of a step on few texts, and most of that time goes into drawing the normals.
//
// Values derived from parameters are computed once a step, before the workers begin, by the instructions' functions, as
// if the parameters were one sample. The draws of dropout and random nodes are made for a microbatch at a time, with
// only the generator's blocks that its samples need. The backward pass reads them again.
//
// # How runs share the cores
//
// As many runs advance at once as there are cores. A run borrows workers, as many as its share of the cores, until
// another run begins, ends or waits. So many trials take one core each, while the last few trials, or a final run,
// share all cores. The workers hold the large memory, a microbatch's buffers and sums. A run holds its parameters in
// the forms that the program reads.
//
// # When something panics
//
// A panic in a worker's goroutine would end the process, because no caller can recover it there, and its message may
// contain a sample's values. The worker turns it into an error of the run, which names the function that panicked and
// nothing else. The run then takes no step until it is restored; other runs continue.
package cpu
