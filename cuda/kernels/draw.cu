#include "run.cuh"

// draw_minibatches runs with this many threads a block.
enum { draw_threads = 256 };

// A cell of members, as random.Sampler of package internal/random defines them: its 64 words, and how many it draws.
constexpr int cell_blocks = 8, cell_halves = 2 * (8 * cell_blocks - 2);

struct cell {
	stream s;
	uint32_t first_block;
	int shift, held; // the block of the cell whose words are held
	uint64_t words[8];

	DEVICE void hold(int block) {
		held = block;
		draw(s, first_block + uint32_t(block), words);
	}

	// number returns how many of the cell are drawn.
	DEVICE int number(global<const uint32_t> id) const {
		int n = int(uint32_t(id[identity_counts])), c = 0;
		for (; c < n; c++) {
			global<const uint32_t> b = id + identity_below + 4 * c;
			uint64_t low = uint64_t(uint32_t(b[0])) | uint64_t(uint32_t(b[1])) << 32, high = uint64_t(uint32_t(b[2])) | uint64_t(uint32_t(b[3])) << 32;
			if (words[0] < high || (words[0] == high && words[1] < low))
				break;
		}
		return c;
	}

	// position returns the position that a half of the words gives. Halves are asked for in order.
	DEVICE int32_t position(int half) {
		if (half >= cell_halves)
			return half - cell_halves;
		int at = 2 + half / 2;
		if (at / 8 != held)
			hold(at / 8);
		uint64_t w = words[0];
		for (int i = 1; i < 8; i++)
			w = at % 8 == i ? words[i] : w;
		return int32_t(uint32_t(half % 2 == 0 ? w >> 32 : w) >> (32 - shift));
	}
};

// sampled writes the drawn members of a cell of at most 64, of which count exist, ascending, and returns their number.
DEVICE int sampled(cell &c, int number, global<const int32_t> members, int count, global<int32_t> out) {
	int size = 1 << c.shift, n = 2 * number > size ? size - number : number;
	uint64_t drawn = 0;
	for (int half = 0, found = 0; found < n; half++) {
		uint64_t bit = uint64_t(1) << c.position(half);
		found += (drawn & bit) == 0;
		drawn |= bit;
	}
	int written = 0;
	ROLLED for (int i = 0; i < count; i++)
		if ((drawn >> i & 1) == (2 * number <= size))
			out[written++] = int32_t(members[i]);
	return written;
}

// picked does so for a larger cell, of which less than half are drawn. The positions are sorted where members are
// written, so all must find room: those beyond count too, which are no members.
DEVICE int picked(cell &c, int number, global<const int32_t> members, int count, global<int32_t> out) {
	for (int half = 0, found = 0; found < number; half++) {
		int32_t at = c.position(half);
		int i = found;
		while (i > 0 && int32_t(out[i - 1]) >= at)
			i--;
		if (i < found && int32_t(out[i]) == at)
			continue;
		for (int j = found++; j > i; j--)
			out[j] = int32_t(out[j - 1]);
		out[i] = at;
	}
	int written = 0;
	for (; written < number && int32_t(out[written]) < count; written++)
		out[written] = int32_t(members[int32_t(out[written])]);
	return written;
}

// draw_minibatches draws the minibatches of some steps of every run: a block lists the samples of one run in one step,
// ascending, and notes their number. A run that rests gets none.
KERNEL(draw_minibatches)(group runs, minibatches out) {
	SHARED(int, sums, draw_threads / 32);
	SHARED(int, imaginary, 1); // drawn members of the last cell that don't exist
	unsigned run = blockIdx.x % unsigned(out.runs), slot = blockIdx.x / unsigned(out.runs);
	size_t row = size_t(slot) * out.runs + run;
	global<const int32_t> clock = out.clocks + size_t(run) * clock_columns;
	int64_t step = int64_t(int32_t(clock[clock_from])) + out.taken + slot;
	bool rests = step >= int32_t(clock[clock_end]);
	global<const int64_t> list = runs.lists + list_columns * size_t(run);
	global<const int32_t> members = runs.members + int64_t(list[list_from]);
	int count = rests ? 0 : int(int64_t(list[list_count]));
	global<const uint32_t> id = identity_of(out, run);
	global<int32_t> batch = out.batches + row * out.width;
	cell c = {stream_of(id, minibatch_stream, int32_t(step)), 0, int(uint32_t(id[identity_shift])), 0, {}};
	int size = 1 << c.shift, cells = int((int64_t(count) + size - 1) >> c.shift);

	if (threadIdx.x == 0)
		imaginary[0] = 0;
	int warp = int(threadIdx.x / 32), n = 0; // samples drawn
	for (int base = 0; base < cells; base += draw_threads) {
		int at = base + int(threadIdx.x);
		int number = 0;
		if (at < cells) {
			c.first_block = uint32_t(at * cell_blocks);
			c.hold(0);
			number = c.number(id);
		}
		int before = number; // of this thread and the ones before it in its warp
		for (unsigned reach = 1; reach < 32; reach *= 2) {
			int more = shuffle(before, (lane() - reach) & 31);
			if (lane() >= reach)
				before += more;
		}
		if (lane() == 31)
			sums[warp] = before;
		before -= number;
		barrier();
		int total = 0;
		for (int w = 0; w < draw_threads / 32; w++) {
			if (w == warp)
				before += total;
			total += sums[w];
		}
		n += total;
		barrier(); // the sums have been read
		if (number > 0) {
			int from = at << c.shift, left = count - from < size ? count - from : size;
			global<int32_t> to = batch + (n - total + before);
			int written = c.shift <= 6 ? sampled(c, number, members + from, left, to) : picked(c, number, members + from, left, to);
			if (at == cells - 1)
				imaginary[0] = number - written;
		}
	}
	barrier();
	if (threadIdx.x == 0)
		out.sizes[row] = n - imaginary[0];
}
EXPORT(draw_minibatches)
