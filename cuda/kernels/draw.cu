#include "run.cuh"

// The number of threads that draw one run's minibatch.
enum { draw_threads = 256 };

// scan replaces each thread's number by the sum of those of the threads before, and returns the sum of all. Every thread
// of the block calls it, with an array that nobody else uses meanwhile.
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

// kept tells which of the up to eight members of a block of the stream are in the minibatch, a bit for each.
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

// masks_of is the number of words of 32 members' bits.
DEVICE int masks_of(int count) { return count / 32 + (count % 32 != 0); }

// draw_members begins a step of every run that hasn't reached its end: who of its members is in the minibatch, a bit for
// each. That is most of the work of drawing, so all blocks share it, per_run of them a run. Row r of masks, of masks_room words, gets
// the bits; row r of lists says where among everyone's members the run's begin, and their number.
KERNEL(draw_members)(global<const uint32_t> identities, global<const int32_t> clocks, global<const int64_t> lists, int per_run,
	int masks_room, global<uint32_t> masks) {
	unsigned run = blockIdx.x / unsigned(per_run);
	global<const int32_t> clock = clocks + size_t(run) * clock_columns;
	int32_t step = clock[next];
	int count = int(int64_t(lists[2 * size_t(run) + 1]));
	int word = int(blockIdx.x % unsigned(per_run) * blockDim.x + threadIdx.x);
	if (step >= int32_t(clock[end]) || word >= masks_of(count))
		return;
	global<const uint32_t> id = identities + size_t(run) * identity_columns;
	uint64_t threshold = uint64_t(uint32_t(id[threshold_low])) | uint64_t(uint32_t(id[threshold_high])) << 32;
	bool all = uint32_t(id[everybody]) == 1;
	stream s = stream_of(identities, run, minibatch_stream, step);
	uint32_t mask = 0;
	for (int i = 0; i < 4 && 32 * word + 8 * i < count; i++)
		mask |= kept(s, uint32_t(4 * word + i), count, threshold, all) << (8 * i);
	masks[size_t(run) * masks_room + word] = mask;
}
EXPORT(draw_members)


// lower_bound returns how many of the batch are below a place.
DEVICE int lower_bound(global<const int32_t> batch, int n, int64_t place) {
	int from = 0;
	while (n > 0) {
		int half = n / 2;
		if (int64_t(batch[from + half]) < place)
			from += half + 1, n -= half + 1;
		else
			n = half;
	}
	return from;
}

// border tells whether a chunk begins at index i > 0 of the batch: whether the smallest node of the tree over places that
// holds both this sample and the one before holds more than most.
DEVICE bool border(global<const int32_t> batch, int n, int i, int most) {
	uint32_t here = uint32_t(int32_t(batch[i])), before = uint32_t(int32_t(batch[i - 1]));
	int level = 0;
	while (here >> level != before >> level)
		level++;
	int64_t first = int64_t(here >> level) << level;
	return lower_bound(batch, n, first + (int64_t(1) << level)) - lower_bound(batch, n, first) > most;
}

// draw_minibatch makes the minibatch of every run that draw_members has drawn for: one block a run writes its samples down,
// ascending, and divides them into chunks of at most most samples. Row r of batches, of room columns, gets the samples;
// row r of cuts, of room+1, the index of the first sample of each chunk and then of none; sizes gets the two numbers.
// A resting run gets neither samples nor chunks. room is at least the number of any run's members.
KERNEL(draw_minibatch)(global<int32_t> clocks, global<const int64_t> lists, global<const int32_t> everyone, int masks_room,
	global<const uint32_t> masks, int most, int room, global<int32_t> batches, global<int32_t> cuts, global<int32_t> sizes) {
	SHARED(int, sums, draw_threads);
	unsigned run = blockIdx.x;
	global<int32_t> clock = clocks + size_t(run) * clock_columns;
	int32_t step = clock[next];
	bool rests = step >= int32_t(clock[end]);
	barrier(); // everybody has read the clock
	if (threadIdx.x == 0) {
		clock[now] = rests ? -1 : step;
		if (!rests)
			clock[next] = step + 1;
	}
	global<int32_t> batch = batches + size_t(run) * room;
	global<int32_t> cut = cuts + size_t(run) * (size_t(room) + 1);
	global<const int32_t> members = everyone + int64_t(lists[2 * size_t(run)]);
	global<const uint32_t> mask_row = masks + size_t(run) * masks_room;

	// Threads take neighbouring parts of the list, so that the batch ascends.
	int drawn = rests ? 0 : masks_of(int(int64_t(lists[2 * size_t(run) + 1]))), each = (drawn + draw_threads - 1) / draw_threads;
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
		mine += i == 0 || border(batch, n, i, most);
	int chunks = scan(sums, mine);
	for (int i = from; i < to; i++)
		if (i == 0 || border(batch, n, i, most))
			cut[mine++] = i;
	if (threadIdx.x == 0) {
		cut[chunks] = n;
		sizes[2 * size_t(run)] = n;
		sizes[2 * size_t(run) + 1] = chunks;
	}
}
EXPORT(draw_minibatch)
