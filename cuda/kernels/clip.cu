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

// contributions are the samples of a tile that add something, whose gradients are finite: their places in the tile and in the
// data, and their clip factors.
struct contributions {
	int count;
	global<const int> rows, places;
	global<const float> factors;
};

// contributing goes through them.
struct contributing {
	const contributions &all;
	int k;
	DEVICE contributing(const contributions &all) : all(all), k(0) {}
	DEVICE bool more() const { return k < all.count; }
	DEVICE void next() { k++; }
	DEVICE int row(const operand &o) const { return o.place == in_data ? all.places[k] : all.rows[k]; }
	DEVICE float factor() const { return all.factors[k]; }
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
		float v = c.p[int64_t(step.row(x)) * int64_t(x.size)];
		return clipped ? v * step.factor() : v;
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

// sum_products adds up the products of all contributions. Where rows of results are long a thread takes four of a row's.
DEVICE void sum_products(int m, int n, const contributions &all, const factor_of &left, const factor_of &right, const onto_grid &out) {
	if (n > 64)
		multiply<4>(1, m, n, contributing(all), left, right, out);
	else
		multiply<1>(1, m, n, contributing(all), left, right, out);
}

// add_rows adds all contributions' rows to those of a table that they go to, each element by itself: no other of the sample's goes
// there, and what others' have in common is added on the grid, exactly.
DEVICE void add_rows(const tile &t, global<const int32_t> r, const contributions &all, const onto_grid &out) {
	int values = r[sum_size], k = r[sum_k];
	operand rows = operand_of(t, r, sum_x, values);
	ROLLED
	for (int e = int(threadIdx.x); e < all.count * values; e += int(blockDim.x)) {
		int s = all.rows[e / values], j = e % values;
		float factor = all.factors[e / values], v = row_of(t, rows, s)[j];
		int picked = integers_of(t, r, sum_delta, values / k, s)[j / k];
		out.put(size_t(picked) * k + j % k, v * factor);
	}
}

// ones is how many bits of a word are 1.
DEVICE int ones(unsigned bits) {
	int n = 0;
	for (; bits != 0; bits &= bits - 1)
		n++;
	return n;
}

// The most samples of a chunk, on any engine.
enum { most_in_chunk = 64 };

// clipped_sums adds the clipped gradients of every run's minibatch to its sums. Blocks share the chunks of all runs; one
// takes the samples of a chunk through the program together, in memory of its own, measures their gradients, and
// rounds the chunk's clipped sum to the fine grid. The squared norms go to norms, where the samples are in batches.
KERNEL(clipped_sums)(global<const int32_t> code, int instructions, global<const int32_t> reductions, int reduced,
	global<const int32_t> tables, global<const float> constants, global<const float> data, global<const int32_t> integers,
	int places, int runs, global<const double> settings, int room, global<const int32_t> batches,
	global<const int32_t> cuts, global<const int32_t> sizes, int size, global<const float> params, int most, int floats, global<float> float_room,
	int indices, global<int32_t> index_room, global<double> norms, global<unsigned long long> sums) {
	SHARED(float, factors, most_in_chunk);
	SHARED(int, used_rows, most_in_chunk);
	SHARED(int, used_places, most_in_chunk);
	SHARED(float, used_factors, most_in_chunk);
	SHARED(int, used, 1);
	tile t;
	t.room = most, t.first = 0, t.places = places;
	t.data = data, t.integers = integers, t.constants = constants, t.code = code, t.tables = tables;
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
				bool product = int(int32_t(r[sum_rule])) == of_product;
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
		if (warp == 0) {
			int count = 0;
			for (int s = int(lane()); s - int(lane()) < t.n; s += 32) {
				float factor = s < t.n ? float(factors[s]) : 0.0f;
				unsigned those = lanes_where(factor != 0), before_me = those & ((1u << lane()) - 1);
				if (factor != 0) {
					int at = count + ones(before_me);
					used_rows[at] = s, used_places[at] = sample_of(t, s), used_factors[at] = factor;
				}
				count += ones(those);
			}
			if (lane() == 0)
				used[0] = count;
		}
		barrier();
		contributions all = {used[0], used_rows, used_places, used_factors};

		for (int i = 0; i < reduced; i++) {
			global<const int32_t> r = reductions + i * sum_words;
			int rule = r[sum_rule], k = r[sum_k], n = r[sum_n];
			onto_grid out = {sums + (size_t(run) * size + size_t(int32_t(r[sum_param]))), 1 / set[fine], n};
			if (rule == of_rows) {
				add_rows(t, r, all, out);
				continue;
			}
			if (rule == of_product) {
				factor_of x = {operand_of(t, r, sum_x, k), false}, delta = {operand_of(t, r, sum_delta, n), true};
				if (int(int32_t(r[sum_transposed])) == 1) {
					out.row = k;
					sum_products(n, k, all, delta, x, out);
				} else {
					sum_products(k, n, all, x, delta, out);
				}
				continue;
			}
			int values = r[sum_size];
			operand g = operand_of(t, r, sum_x, values);
			for (int j = int(threadIdx.x); j < values; j += int(blockDim.x)) {
				float sum = 0;
				for (contributing s(all); s.more(); s.next())
					sum = multiply_add(s.factor(), float(g.base[int64_t(s.row(g)) * values + j]), sum);
				out.put(j, sum);
			}
		}
	}
}
EXPORT(clipped_sums)
