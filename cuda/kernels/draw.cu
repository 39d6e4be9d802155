#include "run.cuh"

// draw_minibatch runs with this many threads a block.
enum { draw_threads = 256 };

// scan replaces each thread's number by the sum of the numbers of the threads before it, and returns the sum of all.
// Every thread of the block calls it, with an array of its own.
template <class Array> DEVICE int scan(Array &sums, int &mine) {
	int own = mine;
	sums[threadIdx.x] = own;
	barrier();
	for (unsigned reach = 1; reach < blockDim.x; reach *= 2) {
		int before = threadIdx.x >= reach ? int(sums[threadIdx.x - reach]) : 0;
		barrier();
		if (threadIdx.x >= reach)
			sums[threadIdx.x] = int(sums[threadIdx.x]) + before;
		barrier();
	}
	int total = sums[blockDim.x - 1];
	mine = int(sums[threadIdx.x]) - own;
	barrier();
	return total;
}

// kept draws the up to eight members of a block of the stream: bit i is 1 if member i of them is in the minibatch.
DEVICE uint32_t kept(const stream &s, uint32_t block, int members, uint64_t threshold, bool all) {
	int first = int(block) * 8, count = members - first < 8 ? members - first : 8;
	if (all)
		return (1u << count) - 1;
	uint64_t words[8];
	draw(s, block, words);
	uint32_t mask = 0;
	for (int i = 0; i < count; i++)
		mask |= uint32_t(words[i] < threshold) << i;
	return mask;
}

// masks_of returns the number of 32-bit words that hold a bit for each of count members.
DEVICE int masks_of(int count) { return count / 32 + (count % 32 != 0); }

// draw_members begins a step of every run that hasn't reached its end: it draws which of its members are in the
// minibatch, a bit for each. That is most of the work of drawing, so all blocks share it, draw_blocks of them a run.
KERNEL(draw_members)(group runs) {
	unsigned run = blockIdx.x / unsigned(runs.draw_blocks);
	global<const int32_t> clock = runs.clocks + size_t(run) * clock_columns;
	int32_t step = clock[clock_next];
	int count = int(int64_t(runs.lists[list_columns * size_t(run) + list_count]));
	int word = int(blockIdx.x % unsigned(runs.draw_blocks) * blockDim.x + threadIdx.x);
	if (step >= int32_t(clock[clock_end]) || word >= masks_of(count))
		return;
	global<const uint32_t> id = runs.identities + size_t(run) * identity_columns;
	uint64_t threshold = uint64_t(uint32_t(id[identity_threshold_low])) | uint64_t(uint32_t(id[identity_threshold_high])) << 32;
	bool all = uint32_t(id[identity_everybody]) == 1;
	stream s = stream_of(runs, run, minibatch_stream, step);
	uint32_t mask = 0;
	for (int i = 0; i < 4 && 32 * word + 8 * i < count; i++)
		mask |= kept(s, uint32_t(4 * word + i), count, threshold, all) << (8 * i);
	runs.masks[size_t(run) * runs.mask_words + word] = mask;
}
EXPORT(draw_members)

// lower_bound returns how many samples of the batch are below a bound.
DEVICE int lower_bound(global<const int32_t> batch, int n, int64_t bound) {
	int from = 0;
	while (n > 0) {
		int half = n / 2;
		if (int64_t(batch[from + half]) < bound)
			from += half + 1, n -= half + 1;
		else
			n = half;
	}
	return from;
}

// border reports whether a chunk begins at index i > 0 of the batch: whether the smallest node of the binary tree over
// sample numbers that holds samples i-1 and i holds more than most of the batch.
DEVICE bool border(global<const int32_t> batch, int n, int i, int most) {
	uint32_t here = uint32_t(int32_t(batch[i])), before = uint32_t(int32_t(batch[i - 1]));
	int level = 0;
	while (here >> level != before >> level)
		level++;
	int64_t first = int64_t(here >> level) << level;
	return lower_bound(batch, n, first + (int64_t(1) << level)) - lower_bound(batch, n, first) > most;
}

// draw_minibatch completes what draw_members began. A block for each run lists the samples that are drawn, ascending,
// divides the list into chunks, and notes the numbers of both. A run that rests gets no samples and no chunks.
KERNEL(draw_minibatch)(group runs, minibatches out) {
	SHARED(int, sums, draw_threads);
	unsigned run = blockIdx.x;
	global<int32_t> clock = runs.clocks + size_t(run) * clock_columns;
	int32_t step = clock[clock_next];
	bool rests = step >= int32_t(clock[clock_end]);
	barrier(); // all threads have read the clock
	if (threadIdx.x == 0) {
		clock[clock_now] = rests ? -1 : step;
		if (!rests)
			clock[clock_next] = step + 1;
	}
	global<int32_t> batch = out.batches + size_t(run) * out.width;
	global<int32_t> cut = out.cuts + size_t(run) * (size_t(out.width) + 1);
	global<const int64_t> list = runs.lists + list_columns * size_t(run);
	global<const int32_t> members = runs.members + int64_t(list[list_from]);
	global<const uint32_t> mask_row = runs.masks + size_t(run) * runs.mask_words;

	// Threads take neighbouring parts of the list, so that the batch ascends.
	int drawn = rests ? 0 : masks_of(int(int64_t(list[list_count]))), each = (drawn + draw_threads - 1) / draw_threads;
	int from = int(threadIdx.x) * each, to = from + each < drawn ? from + each : drawn;
	int mine = 0;
	for (int w = from; w < to; w++)
		for (uint32_t mask = mask_row[w]; mask != 0; mask &= mask - 1)
			mine++;
	int n = scan(sums, mine);
	for (int w = from; w < to; w++) {
		uint32_t mask = mask_row[w];
		for (int i = 0; i < 32; i++)
			if (mask >> i & 1)
				batch[mine++] = int32_t(members[32 * w + i]);
	}
	barrier();

	each = (n + draw_threads - 1) / draw_threads;
	from = int(threadIdx.x) * each, to = from + each < n ? from + each : n;
	mine = 0;
	for (int i = from; i < to; i++)
		mine += i == 0 || border(batch, n, i, out.chunk);
	int chunks = scan(sums, mine);
	for (int i = from; i < to; i++)
		if (i == 0 || border(batch, n, i, out.chunk))
			cut[mine++] = i;
	if (threadIdx.x == 0) {
		cut[chunks] = n;
		global<int32_t> sizes = out.sizes + size_columns * size_t(run);
		sizes[size_samples] = n;
		sizes[size_chunks] = chunks;
	}
}
EXPORT(draw_minibatch)
