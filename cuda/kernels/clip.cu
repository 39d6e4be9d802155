#include "walk.cuh"

// usable returns a squared norm, or infinity if the norm is above 2^60 or NaN. This is the maximum for a gradient and
// for each factor of one: beyond it products in single precision come close to overflow, and the clip factors to
// underflow.
DEVICE double usable(double squared) { return squared <= 0x1p120 ? squared : double(INFINITY); }

// sum_squares returns the sum of n squares, which only double's rounding makes inexact. A whole warp calls it. Each of
// a lane's four sums is a chain of additions that wait for one another.
DEVICE double sum_squares(global<const float> v, int n) {
	double sums[4] = {};
	int j = int(lane());
	ROLLED
	for (; j + 96 < n; j += 128)
		for (int i = 0; i < 4; i++) {
			double x = double(float(v[j + 32 * i]));
			sums[i] += x * x;
		}
	ROLLED
	for (; j < n; j += 32) {
		double x = double(float(v[j]));
		sums[0] += x * x;
	}
	return usable(warp_sum((sums[0] + sums[1]) + (sums[2] + sums[3])));
}

// A sample's squared norm is added up in parts, by different warps.
enum { norm_parts = 8 };

// clip_factor returns the factor that a gradient of a given squared norm is multiplied by; see engine.ClipFactor.
// Clipping is automatic if stability isn't 0.
DEVICE float clip_factor(double squared, double clip, double stability) {
	double norm = sqrt(squared);
	if (stability == 0 && norm <= clip)
		return 1;
	double factor = clip / (norm + stability);
	return factor >= 0x1p-100 ? float(factor) : 0.0f;
}

// contributions lists the samples of a tile that add to the sum, those whose gradients are finite: their rows in the
// tile, their numbers in the data, and their clip factors.
struct contributions {
	int count;
	global<const int> rows, samples;
	global<const float> factors;
};

// contributing steps through contributions.
struct contributing {
	const contributions &all;
	int k;
	DEVICE contributing(const contributions &all) : all(all), k(0) {}
	DEVICE bool more() const { return k < all.count; }
	DEVICE void next() { k++; }
	DEVICE int row(const operand &o) const { return o.space == in_data ? all.samples[k] : all.rows[k]; }
	DEVICE float factor() const { return all.factors[k]; }
};

// factor_of reads one factor of the samples' gradients: x, or δ, which is clipped.
struct factor_of {
	static constexpr rows_lie lie = side_by_side;
	struct cursor {
		global<const float> p;
	};
	operand x;
	bool clipped;
	DEVICE cursor begin(int, int m) const { return {x.base + m}; }
	DEVICE float read(const cursor &c, const contributing &step, int ahead) const {
		float v = (c.p + int64_t(step.row(x)) * int64_t(x.size))[ahead];
		return clipped ? v * step.factor() : v;
	}
};

// onto_grid rounds products to the fine grid, counts them in its units, and adds the counts to the run's sums. In
// single precision x·y + magic, fused, is magic and the rounded product, if magic is 1.5·2^23 times the grid; its bits
// are magic's and the count. So a sum of them holds magic's bits once for each of its terms.
struct onto_grid {
	typedef uint32_t sum;
	global<unsigned long long> sums;
	float magic;
	uint32_t surplus; // of a sum over all contributions
	int row;
	DEVICE uint32_t add(float x, float y, uint32_t sum) const { return sum + word_of(multiply_add(x, y, magic)); }
	DEVICE void put(int j, uint32_t sum) const { count(j, sum - surplus); }
	DEVICE void count(int j, uint32_t units) const {
		if (units != 0)
			atomic_add(sums, j, (unsigned long long)(long long)int32_t(units));
	}
	DEVICE int begin(int, int n) const { return n; }
};

// sum_products adds up the products of all contributions. Where rows of results are long a thread takes four of a
// row's.
DEVICE int sum_products(int m, int n, const contributions &all, const factor_of &left, const factor_of &right, const onto_grid &out, int before) {
	if (n > 64)
		return multiply<4>(1, m, n, contributing(all), left, right, out, before);
	return multiply<1>(1, m, n, contributing(all), left, right, out, before);
}

// add_rows adds the contributions' rows to the rows of the table that they belong to, each element by itself. After a
// merge a sample has one row for each row of the table.
DEVICE void add_rows(const tile &t, global<const int32_t> r, const contributions &all, const onto_grid &out) {
	int values = r[sum_size], k = r[sum_k], picks = values / k;
	operand rows = operand_of(t, r, sum_x, values);
	integers picked = integers_of(t, r, sum_delta, picks);
	ROLLED
	for (counter<2> n(int(threadIdx.x), int(blockDim.x), k, picks); n.e < all.count * values; n.next()) {
		int s = all.rows[n.at[2]], j = n.at[0];
		float factor = all.factors[n.at[2]], v = row_of(t, rows, s)[n.at[1] * k + j];
		out.count(integer_at(t, picked, s, n.at[1]) * k + j, out.add(v, factor, 0) - word_of(out.magic));
	}
}

// The maximum number of samples in a tile. A warp has a lane for each, and a sum of contributions, of which each is at
// most 2^22, fits in 32 bits: there may be 511.
enum { max_tile = 32 };
static_assert(max_tile <= 32, "a warp has a lane for each sample of a tile");

// A tile takes about as long as this many samples more. A block whose share reaches into another run has a tile more,
// and so gets fewer samples.
enum { tile_overhead = 6 };

// positions returns how many positions a run's samples take in the line of which blocks take even shares.
DEVICE int64_t positions(int samples) { return samples == 0 ? 0 : int64_t(samples) + tile_overhead; }

// clipped_sums adds the clipped gradients of every run's minibatch to its sums. Blocks share the samples of all runs
// evenly. A block takes a tile of a run's samples through the program together, in memory of its own, writes their
// squared norms, and adds what each contributes, rounded to the fine grid.
KERNEL(clipped_sums)(gradient_program p, minibatches drawn) {
	SHARED(double, squares, max_tile * norm_parts);
	SHARED(int, used_rows, max_tile);
	SHARED(int, used_samples, max_tile);
	SHARED(float, used_factors, max_tile);
	SHARED(int, used, 1);
	tile t = tile_of(p.code, p.data);
	int warp = int(threadIdx.x / 32), warps = int(blockDim.x / 32), reduced = p.reduced;

	global<const int32_t> sizes = drawn.sizes + size_t(drawn.slot) * drawn.runs;
	int64_t line = 0;
	for (int run = 0; run < drawn.runs; run++)
		line += positions(sizes[run]);
	int64_t first = line * blockIdx.x / gridDim.x, last = line * (blockIdx.x + 1) / gridDim.x;
	int run = 0, prepared_for = -1; // the run whose derived values the block has
	int64_t before = 0; // positions of the runs before
	for (;;) {
		for (; run < drawn.runs; run++) {
			if (first < before)
				first = before;
			if (first < before + int32_t(sizes[run]))
				break;
			before += positions(sizes[run]);
		}
		if (run == drawn.runs || first >= last)
			return;
		int from = int(first - before), size = sizes[run];
		int64_t left = last - before < size ? last - first : size - from; // of the share and the run
		// Tiles of one size, or one more.
		int tiles = int((left + t.capacity - 1) / t.capacity);
		t.n = int(left / tiles);
		first += t.n;
		size_t row = size_t(drawn.slot) * drawn.runs + run;
		t.samples = drawn.batches + (row * drawn.width + from);
		t.params = drawn.params + size_t(run) * drawn.size;
		t.identity = identity_of(drawn, run);
		t.step = int32_t(drawn.clocks[size_t(run) * clock_columns + clock_from]) + drawn.taken + drawn.slot;
		barrier(); // the former tile's values have been read
		walk(t, run == prepared_for ? p.prepared : 0, p.prepared, p.code.instructions);
		prepared_for = run;
		barrier();

		// A warp takes every eighth parameter of a sample, whichever warps there are: sums have one order.
		for (int u = warp; u < t.n * norm_parts; u += warps) {
			int s = u / norm_parts, part = (u + s) % norm_parts;
			double squared = 0;
			for (int i = part; i < reduced; i += norm_parts) {
				global<const int32_t> r = p.reductions + i * sum_words;
				bool product = int(int32_t(r[sum_rule])) == of_product;
				int k = product ? int(int32_t(r[sum_k])) : int(int32_t(r[sum_size])), n = r[sum_n];
				double factor = sum_squares(row_of(t, operand_of(t, r, sum_x, k), s), k);
				if (product)
					factor *= sum_squares(row_of(t, operand_of(t, r, sum_delta, n), s), n);
				squared += factor;
			}
			if (lane() == 0)
				squares[s * norm_parts + part] = squared;
		}
		barrier();
		global<const double> set = drawn.settings + size_t(run) * setting_columns;
		if (warp == 0) {
			int s = int(lane());
			float factor = 0;
			if (s < t.n) {
				double squared = 0;
				for (int part = 0; part < norm_parts; part++)
					squared += squares[s * norm_parts + part];
				drawn.norms[size_t(run) * drawn.width + from + s] = squared;
				factor = clip_factor(squared, set[setting_clip], set[setting_stability]);
			}
			unsigned those = lanes_where(factor != 0);
			if (factor != 0) {
				int at = ones(those & ((1u << s) - 1));
				used_rows[at] = s, used_samples[at] = sample_of(t, s), used_factors[at] = factor;
			}
			if (s == 0)
				used[0] = ones(those);
		}
		barrier();
		contributions all = {used[0], used_rows, used_samples, used_factors};
		float magic = float(0x1.8p23 * set[setting_fine]);

		int units = 0;
		for (int i = 0; i < reduced; i++) {
			global<const int32_t> r = p.reductions + i * sum_words;
			int rule = r[sum_rule], k = r[sum_k], n = r[sum_n];
			onto_grid out = {drawn.sums + (size_t(run) * drawn.size + size_t(int32_t(r[sum_param]))), magic, all.count * word_of(magic), n};
			if (rule == of_rows) {
				add_rows(t, r, all, out);
				continue;
			}
			if (rule == of_product) {
				factor_of x = {operand_of(t, r, sum_x, k), false}, delta = {operand_of(t, r, sum_delta, n), true};
				if (int(int32_t(r[sum_transposed])) == 1) {
					out.row = k;
					units += sum_products(n, k, all, delta, x, out, units);
				} else {
					units += sum_products(k, n, all, x, delta, out, units);
				}
				continue;
			}
			int values = r[sum_size];
			operand g = operand_of(t, r, sum_x, values);
			for (int j = int(threadIdx.x); j < values; j += int(blockDim.x)) {
				uint32_t sum = 0;
				for (contributing s(all); s.more(); s.next())
					sum = out.add(s.factor(), g.base[int64_t(s.row(g)) * values + j], sum);
				out.put(j, sum);
			}
		}
	}
}
EXPORT(clipped_sums)
