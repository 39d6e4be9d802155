// The runs that take a step together, as kernels see them. Runs share the program, the data and the layout of
// parameters; everything else is in tables with a row for each run. Package cuda/internal/kernel has the same in Go:
// its numbers are generated from the enums below, its structs are tested against those here.
#pragma once

#include "random.cuh"

// clock: the columns of a run's step numbers.
enum {
	clock_from, // the steps done when the host began to launch
	clock_end,  // the step before which the run stops
	clock_done, // the steps done
	clock_columns
};

// setting: the columns of a run's numbers.
enum {
	setting_fine,   // the grids of package engine, powers of two
	setting_coarse,
	setting_deviation, // of the noise
	setting_divisor,   // the expected batch size
	setting_rate,      // the optimizer's learning rate
	setting_beta1, setting_beta2, setting_epsilon,
	setting_clip,      // the norm that gradients are clipped to, a little less than C
	setting_stability, // added to norms in automatic clipping; else 0
	setting_columns
};

// identity: the columns of a run's words.
enum {
	identity_key,                       // eight words
	identity_trial = identity_key + 8,
	identity_adam,                      // 1: DP-Adam; 0: DP-SGD
	identity_shift,                     // a cell of members has 2^shift
	identity_counts,                    // the number of the bounds that follow
	identity_below,                     // four words each, the lowest first: so many are drawn of a cell as there are
	                                    // bounds that a number of 128 bits reaches
	identity_columns = identity_below + 256
};

// list: the columns of a run's members.
enum {
	list_from,  // the index of the run's first member
	list_count,
	list_columns
};

// minibatches is the parameter that connects the runs of a step with the kernels that compute gradients: tables with a
// row for each run. The comments give a row's length.
struct minibatches {
	global<const uint32_t> identities; // identity_columns
	global<int32_t> clocks;            // clock_columns
	global<const double> settings;     // setting_columns
	global<int32_t> batches;           // width: a minibatch's samples, ascending; slot after slot, all runs'
	                                   // minibatches in each
	global<int32_t> sizes;             // 1: the number of these samples; slot after slot
	global<double> norms;              // width: the squared norms of the samples' gradients
	global<unsigned long long> sums;   // size: the sum of clipped gradients, in units of the fine grid
	global<float> params;              // size
	int32_t runs;
	int32_t width;                     // any run's members and most_in_cell more, at least
	int32_t size;                      // of the layout of parameters
	int32_t taken;                     // the steps that the host has launched since it set the clocks, up to slot 0
	int32_t slot;                      // of the step that is taken, among those whose minibatches are drawn
	int32_t unused;
};
SAME_IN_GO(minibatches, 8 * 8 + 6 * 4);

// group is the parameter that draws and updates take besides: more tables of the runs.
struct group {
	global<const int64_t> lists;       // list_columns
	global<const int32_t> members;     // not by run: the lists' members, one list after another
	global<const uint32_t> occupied;   // not by run: bit j%32 of word j/32 is 0 if coordinate j is padding
	global<float> firsts;              // size: first moments
	global<float> seconds;             // size: second moments
	int32_t update_blocks;             // thread blocks of release_and_update for each run
	int32_t unused;
};
SAME_IN_GO(group, 5 * 8 + 2 * 4);

DEVICE global<const uint32_t> identity_of(const minibatches &runs, unsigned run) {
	return runs.identities + size_t(run) * identity_columns;
}

// stream_of returns a stream of the run with the given row of identities.
DEVICE stream stream_of(global<const uint32_t> id, uint32_t purpose, int32_t step) {
	stream s;
	for (int i = 0; i < 8; i++)
		s.key[i] = id[identity_key + i];
	s.purpose = purpose, s.trial = id[identity_trial], s.step = uint32_t(step);
	return s;
}
