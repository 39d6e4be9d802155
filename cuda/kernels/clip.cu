#include "run.cuh"
#include "walk.cuh"

// usable is infinite for what isn't. The norm of a factor of a gradient, or of a gradient, is at most 2^60: beyond it
// products in single precision come close to overflow, and what would bring them back to underflow.
DEVICE double usable(double squared) { return squared <= 0x1p120 ? squared : double(INFINITY); }

// sum_squares is exact but for double's rounding, whatever the size of a float. A warp calls it.
DEVICE double sum_squares(global<const float> v, int n) {
	double sum = 0;
	for (int j = int(lane()); j < n; j += 32) {
		double x = double(float(v[j]));
		sum += x * x;
	}
	return usable(warp_sum(sum));
}

// clip_factor is what a gradient of a squared norm is multiplied by: see engine.ClipFactor.
DEVICE float clip_factor(double squared, double clip) {
	double norm = sqrt(squared);
	if (norm <= clip)
		return 1;
	double factor = clip / norm;
	return factor >= 0x1p-100 ? float(factor) : 0.0f;
}

// contributing goes through the samples of a tile that add something, whose gradients are finite.
struct contributing {
	const tile &t;
	global<const float> factors;
	int s, place;
	float factor;
	DEVICE contributing(const tile &t, global<const float> factors) : t(t), factors(factors), s(-1), place(0), factor(0) { next(); }
	DEVICE bool more() const { return s < t.n; }
	DEVICE void next() {
		for (s++; s < t.n; s++) {
			factor = factors[s];
			if (factor != 0) {
				place = sample_of(t, s);
				return;
			}
		}
	}
};

// factor_of is one of the factors of all samples' gradients, x, or the δ that is clipped.
struct factor_of {
	struct cursor {
		global<const float> p;
	};
	operand x;
	bool clipped;
	DEVICE cursor begin(int, int m) const { return {x.base + m}; }
	DEVICE float read(const cursor &c, const contributing &step) const {
		float v = c.p[size_t(x.place == in_data ? step.place : step.s) * x.size];
		return clipped ? v * step.factor : v;
	}
};

// onto_grid rounds a chunk's sums to the fine grid and adds them to the run's, exactly.
struct onto_grid {
	global<unsigned long long> sums;
	double per_fine;
	int row;
	DEVICE void put(size_t j, float sum) const {
		long long units = (long long)rint(double(sum) * per_fine);
		if (units != 0)
			atomic_add(sums, j, (unsigned long long)units);
	}
	DEVICE size_t begin(int, int n) const { return n; }
};

// The most samples of a chunk, on any engine.
enum { most_in_chunk = 64 };

// clipped_sums adds the clipped gradients of every run's minibatch to its sums. Blocks share the chunks of all runs; one
// takes the samples of a chunk through the program together, in memory of its own, measures their gradients, and
// rounds the chunk's clipped sum to the fine grid. The squared norms go to norms, where the samples are in batches.
KERNEL(clipped_sums)(global<const int32_t> code, int instructions, global<const int32_t> reductions, int reduced,
	global<const int32_t> tables, global<const float> constants, global<const float> data, int places, int runs,
	global<const double> settings, int room, global<const int32_t> batches, global<const int32_t> cuts,
	global<const int32_t> sizes, int size, global<const float> params, int most, int floats, global<float> float_room,
	int indices, global<int32_t> index_room, global<double> norms, global<unsigned long long> sums) {
	SHARED(float, factors, most_in_chunk);
	tile t;
	t.room = most, t.first = 0, t.places = places;
	t.data = data, t.constants = constants, t.code = code, t.tables = tables;
	t.floats = float_room + size_t(blockIdx.x) * floats * most;
	t.indices = index_room + size_t(blockIdx.x) * indices * most;
	int warp = int(threadIdx.x / 32), warps = int(blockDim.x / 32);

	int run = 0;
	int64_t before = 0; // chunks of the runs before
	for (int64_t item = blockIdx.x;; item += gridDim.x) {
		for (; run < runs && item >= before + int32_t(sizes[2 * run + 1]); run++)
			before += int32_t(sizes[2 * run + 1]);
		if (run == runs)
			return;
		global<const int32_t> cut = cuts + (size_t(run) * (size_t(room) + 1) + size_t(item - before));
		int from = cut[0];
		t.n = int(int32_t(cut[1])) - from;
		t.samples = batches + (size_t(run) * room + from);
		t.params = params + size_t(run) * size;
		barrier(); // nobody reads what the chunk before has left
		walk(t, instructions);
		barrier();

		global<const double> set = settings + size_t(run) * setting_columns;
		for (int s = warp; s < t.n; s += warps) {
			double squared = 0;
			for (int i = 0; i < reduced; i++) {
				global<const int32_t> r = reductions + i * sum_words;
				bool product = int(int32_t(r[sum_rank_one])) == 1;
				int k = product ? int(int32_t(r[sum_k])) : int(int32_t(r[sum_size])), n = r[sum_n];
				double part = sum_squares(row_of(t, operand_of(t, r, sum_x, k), s), k);
				if (product)
					part *= sum_squares(row_of(t, operand_of(t, r, sum_delta, n), s), n);
				squared += part;
			}
			if (lane() == 0) {
				norms[size_t(run) * room + from + s] = squared;
				factors[s] = clip_factor(squared, set[clip]);
			}
		}
		barrier();

		for (int i = 0; i < reduced; i++) {
			global<const int32_t> r = reductions + i * sum_words;
			int k = r[sum_k], n = r[sum_n];
			onto_grid out = {sums + (size_t(run) * size + size_t(int32_t(r[sum_param]))), 1 / set[fine], n};
			if (int(int32_t(r[sum_rank_one])) == 1) {
				factor_of x = {operand_of(t, r, sum_x, k), false}, delta = {operand_of(t, r, sum_delta, n), true};
				if (int(int32_t(r[sum_transposed])) == 1) {
					out.row = k;
					multiply<1>(1, n, k, contributing(t, factors), delta, x, out);
				} else {
					multiply<1>(1, k, n, contributing(t, factors), x, delta, out);
				}
				continue;
			}
			int values = r[sum_size];
			operand g = operand_of(t, r, sum_x, values);
			for (int j = int(threadIdx.x); j < values; j += int(blockDim.x)) {
				float sum = 0;
				for (contributing s(t, factors); s.more(); s.next())
					sum = multiply_add(s.factor, float(g.base[size_t(g.place == in_data ? s.place : s.s) * values + j]), sum);
				out.put(j, sum);
			}
		}
	}
}
EXPORT(clipped_sums)
