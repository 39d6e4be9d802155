#include "run.cuh"

// draw_minibatches runs with this many threads a block.
enum { draw_threads = 256 };

// kept draws the up to eight members of a block of the stream: bit i is 1 if member i of them is in the minibatch.
DEVICE uint32_t kept(const stream &s, uint32_t block, int members, uint64_t threshold, bool all) {
	int first = int(block) * 8, count = members - first < 8 ? members - first : 8;
	if (count <= 0)
		return 0;
	if (all)
		return (1u << count) - 1;
	uint64_t words[8];
	draw(s, block, words);
	uint32_t mask = 0;
	for (int i = 0; i < count; i++)
		mask |= uint32_t(words[i] < threshold) << i;
	return mask;
}

// draw_minibatches draws the minibatches of some steps of every run: a block lists the samples of one run in one step,
// ascending, and notes their number. A run that rests gets none.
KERNEL(draw_minibatches)(group runs, minibatches out) {
	SHARED(int, sums, draw_threads / 32);
	unsigned run = blockIdx.x % unsigned(out.runs), slot = blockIdx.x / unsigned(out.runs);
	size_t row = size_t(slot) * out.runs + run;
	global<const int32_t> clock = out.clocks + size_t(run) * clock_columns;
	int64_t step = int64_t(int32_t(clock[clock_from])) + out.taken + slot;
	bool rests = step >= int32_t(clock[clock_end]);
	global<const int64_t> list = runs.lists + list_columns * size_t(run);
	global<const int32_t> members = runs.members + int64_t(list[list_from]);
	int count = rests ? 0 : int(int64_t(list[list_count]));
	global<const uint32_t> id = identity_of(out, run);
	uint64_t threshold = uint64_t(uint32_t(id[identity_threshold_low])) | uint64_t(uint32_t(id[identity_threshold_high])) << 32;
	bool all = uint32_t(id[identity_all]) == 1;
	stream s = stream_of(id, minibatch_stream, int32_t(step));
	global<int32_t> batch = out.batches + row * out.width;

	int warp = int(threadIdx.x / 32), n = 0; // samples drawn
	for (int64_t base = 0; base < count; base += 8 * draw_threads) {
		int64_t first = base + 8 * int64_t(threadIdx.x);
		uint32_t mask = first < count ? kept(s, uint32_t(first / 8), count, threshold, all) : 0;
		int before = ones(mask); // of this thread and the ones before it in its warp
		for (unsigned reach = 1; reach < 32; reach *= 2) {
			int more = shuffle(before, (lane() - reach) & 31);
			if (lane() >= reach)
				before += more;
		}
		if (lane() == 31)
			sums[warp] = before;
		before -= ones(mask);
		barrier();
		int total = 0;
		for (int w = 0; w < draw_threads / 32; w++) {
			if (w == warp)
				before += total;
			total += sums[w];
		}
		int at = n + before;
		for (int i = 0; i < 8; i++)
			if (mask >> i & 1)
				batch[at++] = int32_t(members[first + i]);
		n += total;
		barrier(); // the sums have been read
	}
	if (threadIdx.x == 0)
		out.sizes[row] = n;
}
EXPORT(draw_minibatches)
