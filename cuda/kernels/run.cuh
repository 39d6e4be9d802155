// What kernels know of the runs of a group. Runs have the same program, data and layout of parameters; everything else is
// in tables with a row for each run, written by the host when a group starts.
#pragma once

#include "random.cuh"

// clock: the columns of a run's row in the table of step numbers.
enum {
	now,  // the step that is taken, counted from 0; -1 where the run rests
	next, // the steps done, once the step that is taken is done
	end,  // where the run stops
	clock_columns
};

// setting: the columns of a run's row in the table of numbers.
enum {
	fine,      // the grids of package engine, powers of two
	coarse,
	deviation, // of the noise
	divisor,   // the expected batch size
	rate,      // the optimizer's learning rate
	beta1, beta2, epsilon,
	clip,      // the norm that gradients are clipped to, a little less than C
	setting_columns
};

// identity: the columns of a run's row in the table of words.
enum {
	key0,           // eight words of the key
	trial = 8,
	threshold_low,  // of the minibatch: a member is in if its word is below
	threshold_high,
	everybody,      // or if this is 1
	adam,           // the optimizer: 1 for DP-Adam, 0 for DP-SGD
	identity_columns
};

DEVICE stream stream_of(global<const uint32_t> identities, unsigned run, uint32_t purpose, int32_t step) {
	global<const uint32_t> id = identities + size_t(run) * identity_columns;
	stream s;
	for (int i = 0; i < 8; i++)
		s.key[i] = id[key0 + i];
	s.purpose = purpose, s.trial = id[trial], s.step = uint32_t(step);
	return s;
}
