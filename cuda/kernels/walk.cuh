// The interpreter: the threads of a block take a tile of samples through a program, one instruction after another.
#pragma once

#include "functions.cuh"
#include "product.cuh"

// elementwise computes a result of which each element depends on the same elements of the operands alone. A thread has
// the same elements in every such instruction, so that no barrier is needed between two of them. There are loops of
// their own for operands that are all buffers, and for the functions that models have in most layers.
template <bool gradients> DEVICE void elementwise(const tile &t, global<const int32_t> code, int op) {
	int size = code[word_size], f = code[word_func], first = int(threadIdx.x), step = int(blockDim.x), end = t.n * size;
	float number = float_of(uint32_t(int32_t(code[word_scalar])));
	bool add = int(int32_t(code[word_add])) == 1, second = int(int32_t(code[word_side])) == 1;
	operand a = operand_of(t, code, word_in0, size), b = operand_of(t, code, word_in1, size);
	operand c = operand_of(t, code, word_in2, size), d = operand_of(t, code, word_in3, size);
	bool buffers = a.in_order() && b.in_order() && c.in_order() && d.in_order();
	global<float> z = result_of(t, code);
	// result computes an element of the result from those of operands that its parameter returns.
	auto each = [&](const auto &result) {
		if (buffers) {
			ROLLED
			for (int e = first; e < end; e += step) {
				float v = result([&](const operand &o) { return o.space == nowhere ? 0.0f : float(o.base[e]); });
				z[e] = add ? float(z[e]) + v : v;
			}
			return;
		}
		ROLLED
		for (counter<1> n(first, step, size); n.e < end; n.next()) {
			float v = result([&](const operand &o) { return value(t, o, n.e, n.at[0]); });
			z[n.e] = add ? float(z[n.e]) + v : v;
		}
	};
	switch (op) {
	case op_fill:
		each([&](const auto &) { return number; });
		break;
	case op_unary:
		choose<f_square, f_tanh, f_sigmoid>(f, [&](auto f) { each([&](const auto &of) { return unary(f, of(a)); }); });
		break;
	case op_binary:
		choose<f_add, f_sub, f_mul>(f, [&](auto f) { each([&](const auto &of) { return binary(f, of(a), of(b)); }); });
		break;
	case op_scalar:
		choose<f_add, f_mul, f_gt, f_gte>(f, [&](auto f) {
			each([&](const auto &of) {
				float x = of(a);
				return binary(f, second ? number : x, second ? x : number);
			});
		});
		break;
	case op_unary_back:
		if constexpr (gradients)
			choose<f_square, f_tanh, f_sigmoid>(f, [&](auto f) {
				each([&](const auto &of) { return of(a) * unary_derivative(f, of(b), of(c)); });
			});
		break;
	case op_binary_back:
		if constexpr (gradients)
			choose<f_add, f_mul>(f, [&](auto f) {
				each([&](const auto &of) { return of(a) * binary_derivative(f, second, of(b), of(c), of(d)); });
			});
		break;
	default: // op_scalar_back
		if constexpr (gradients)
			choose<f_mul>(f, [&](auto f) {
				each([&](const auto &of) {
					float y = of(b);
					return of(a) * binary_derivative(f, second, second ? number : y, second ? y : number, of(c));
				});
			});
	}
}

// gather copies the elements that a table names; 0 for those that it names -1.
DEVICE void gather(const tile &t, global<const int32_t> code, int given) {
	int size = code[word_size], samples = int(int32_t(code[word_once])) == 1 ? 1 : t.n;
	bool add = int(int32_t(code[word_add])) == 1;
	operand x = operand_of(t, code, word_in0, given);
	global<const int32_t> where = table_of(t, code);
	global<float> z = result_of(t, code);
	ROLLED
	for (counter<1> n(int(threadIdx.x), int(blockDim.x), size); n.e < samples * size; n.next()) {
		int from = where[n.at[0]];
		float v = from < 0 ? 0.0f : float(row_of(t, x, n.at[1])[from]);
		z[n.e] = add ? float(z[n.e]) + v : v;
	}
}

// scatter adds up the elements that go to each element of the result, in the order of a list: those of element k are
// list[starts[k]] to list[starts[k+1] - 1]. If lists are long, a warp takes each.
DEVICE void scatter(const tile &t, global<const int32_t> code, int from) {
	int size = code[word_size];
	bool add = int(int32_t(code[word_add])) == 1, warp = int(int32_t(code[word_warp])) == 1;
	operand x = operand_of(t, code, word_in0, from);
	global<const int32_t> starts = table_of(t, code), list = starts + (size + 1);
	global<float> z = result_of(t, code);
	int lanes = warp ? 32 : 1, mine = warp ? int(lane()) : 0;
	ROLLED
	for (counter<1> n(int(threadIdx.x) / lanes, int(blockDim.x) / lanes, size); n.e < t.n * size; n.next()) {
		global<const float> row = row_of(t, x, n.at[1]);
		float sum = 0;
		int end = starts[n.at[0] + 1];
		ROLLED
		for (int i = int(starts[n.at[0]]) + mine; i < end; i += lanes)
			sum += row[list[i]];
		if (warp)
			sum = warp_sum(sum);
		if (mine == 0)
			z[n.e] = add ? float(z[n.e]) + sum : sum;
	}
}

// softmax computes the softmax of each row of x, or its logarithm, with a warp for each row.
DEVICE void softmax(const tile &t, global<const int32_t> code, bool logarithm) {
	int rows = code[word_rows], k = code[word_k];
	operand x = operand_of(t, code, word_in0, rows * k);
	global<float> z = result_of(t, code);
	ROLLED
	for (int r = int(threadIdx.x / 32); r < t.n * rows; r += int(blockDim.x / 32)) {
		global<const float> from = row_of(t, x, r / rows) + r % rows * k;
		global<float> to = z + size_t(r) * k;
		float maximum = -INFINITY, sum = 0;
		ROLLED
		for (int j = int(lane()); j < k; j += 32) {
			float v = from[j];
			maximum = v > maximum ? v : maximum;
		}
		maximum = warp_maximum(maximum);
		ROLLED
		for (int j = int(lane()); j < k; j += 32)
			sum += exp(from[j] - maximum);
		sum = warp_sum(sum);
		float log_sum = log(sum);
		ROLLED
		for (int j = int(lane()); j < k; j += 32)
			to[j] = logarithm ? from[j] - maximum - log_sum : exp(from[j] - maximum) / sum;
	}
}

DEVICE void softmax_back(const tile &t, global<const int32_t> code, bool logarithm) {
	int rows = code[word_rows], k = code[word_k];
	bool add = int(int32_t(code[word_add])) == 1;
	operand dz = operand_of(t, code, word_in0, rows * k), z = operand_of(t, code, word_in1, rows * k);
	global<float> dx = result_of(t, code);
	ROLLED
	for (int r = int(threadIdx.x / 32); r < t.n * rows; r += int(blockDim.x / 32)) {
		global<const float> d = row_of(t, dz, r / rows) + r % rows * k, y = row_of(t, z, r / rows) + r % rows * k;
		global<float> to = dx + size_t(r) * k;
		float sum = 0;
		ROLLED
		for (int j = int(lane()); j < k; j += 32)
			sum += logarithm ? d[j] : d[j] * y[j];
		sum = warp_sum(sum);
		ROLLED
		for (int j = int(lane()); j < k; j += 32) {
			float v = logarithm ? d[j] - exp(y[j]) * sum : y[j] * (d[j] - sum);
			to[j] = add ? float(to[j]) + v : v;
		}
	}
}

// moments_of returns the mean of a row of k elements and the inverse of its deviation, √(variance + more). A whole warp
// calls it. The variance is that of the differences from the mean, so that a large mean costs no precision.
struct moments {
	float mean, inverse;
};

DEVICE moments moments_of(global<const float> x, int k, float more) {
	float sum = 0, squares = 0;
	ROLLED
	for (int j = int(lane()); j < k; j += 32)
		sum += x[j];
	float mean = warp_sum(sum) / float(k);
	ROLLED
	for (int j = int(lane()); j < k; j += 32) {
		float d = x[j] - mean;
		squares += d * d;
	}
	return {mean, 1.0f / sqrt(warp_sum(squares) / float(k) + more)};
}

// normalize subtracts each row's mean and divides by its deviation, with a warp for each row.
DEVICE void normalize(const tile &t, global<const int32_t> code) {
	int rows = code[word_rows], k = code[word_k];
	float more = float_of(uint32_t(int32_t(code[word_scalar])));
	operand x = operand_of(t, code, word_in0, rows * k);
	global<float> z = result_of(t, code);
	ROLLED
	for (int r = int(threadIdx.x / 32); r < t.n * rows; r += int(blockDim.x / 32)) {
		global<const float> from = row_of(t, x, r / rows) + r % rows * k;
		global<float> to = z + size_t(r) * k;
		moments m = moments_of(from, k, more);
		ROLLED
		for (int j = int(lane()); j < k; j += 32)
			to[j] = (from[j] - m.mean) * m.inverse;
	}
}

DEVICE void normalize_back(const tile &t, global<const int32_t> code) {
	int rows = code[word_rows], k = code[word_k];
	float more = float_of(uint32_t(int32_t(code[word_scalar])));
	bool add = int(int32_t(code[word_add])) == 1;
	operand dz = operand_of(t, code, word_in0, rows * k), x = operand_of(t, code, word_in1, rows * k);
	global<float> dx = result_of(t, code);
	ROLLED
	for (int r = int(threadIdx.x / 32); r < t.n * rows; r += int(blockDim.x / 32)) {
		global<const float> d = row_of(t, dz, r / rows) + r % rows * k, from = row_of(t, x, r / rows) + r % rows * k;
		global<float> to = dx + size_t(r) * k;
		moments m = moments_of(from, k, more);
		float sum = 0, products = 0;
		ROLLED
		for (int j = int(lane()); j < k; j += 32) {
			float v = d[j];
			sum += v;
			products += v * ((from[j] - m.mean) * m.inverse);
		}
		sum = warp_sum(sum) / float(k), products = warp_sum(products) / float(k);
		ROLLED
		for (int j = int(lane()); j < k; j += 32) {
			float v = (d[j] - sum - (from[j] - m.mean) * m.inverse * products) * m.inverse;
			to[j] = add ? float(to[j]) + v : v;
		}
	}
}

// kept_of draws up to 16 numbers of 32 bits, a block of the stream: bit i is 1 if number i keeps its element.
DEVICE uint32_t kept_of(const stream &s, uint32_t block, uint64_t below) {
	uint64_t words[8];
	draw(s, block, words);
	uint32_t mask = 0;
	for (int i = 0; i < 16; i++)
		mask |= uint32_t((words[i / 2] >> (32 * (i % 2)) & 0xffffffff) < below) << i;
	return mask;
}

// dropout keeps the elements that the run's stream says, divided by their share, and sets the others to 0. A lane draws
// for 16 elements, a block of the stream; then a warp takes the elements of 32 such blocks, 32 side by side at a time.
DEVICE void dropout(const tile &t, global<const int32_t> code) {
	int size = code[word_size], blocks = (size + 15) / 16, all = t.n * blocks;
	uint32_t draws = uint32_t(int32_t(code[word_draws])), draw_from = uint32_t(int32_t(code[word_draw]));
	uint64_t below = uint64_t(uint32_t(int32_t(code[word_below]))) | uint64_t(uint32_t(int32_t(code[word_below_high]))) << 32;
	float share = float_of(uint32_t(int32_t(code[word_scalar])));
	bool add = int(int32_t(code[word_add])) == 1;
	operand x = operand_of(t, code, word_in0, size);
	global<float> z = result_of(t, code);
	ROLLED
	for (int first = int(threadIdx.x / 32) * 32; first < all; first += int(blockDim.x)) {
		// Lanes beyond the last block take none, but wait with the others.
		int mine = minimum(first + int(lane()), all - 1), s = mine / blocks, block = mine % blocks;
		bool any = first + int(lane()) < all;
		stream from = stream_of(t.identity, graph_stream, t.step);
		uint32_t mask = kept_of(from, uint32_t(sample_of(t, s)) * draws + draw_from + uint32_t(block), below);
		mask |= uint32_t(any ? minimum(16, size - 16 * block) : 0) << 16;
		int to = s * size + 16 * block;
		long long at = (long long)(x.space == in_data ? sample_of(t, s) : s) * size + 16 * block;
		ROLLED
		for (int i = 0; i < 32; i += 2) {
			unsigned of = unsigned(i) + lane() / 16;
			int j = int(lane() % 16), e = shuffle(to, of) + j;
			uint32_t m = shuffle(mask, of);
			long long source = shuffle(at, of);
			if (uint32_t(j) < m >> 16) {
				float v = (m >> j & 1) == 1 ? x.base[source + j] / share : 0.0f;
				z[e] = add ? float(z[e]) + v : v;
			}
		}
	}
}

// random_numbers sets the elements of a random node, standard normals or numbers in [0, 1). A thread draws a block of
// the stream, for 8 or 16 elements.
DEVICE void random_numbers(const tile &t, global<const int32_t> code, bool normal) {
	int size = code[word_size], each = normal ? 8 : 16, blocks = (size + each - 1) / each;
	uint32_t draws = uint32_t(int32_t(code[word_draws])), draw_from = uint32_t(int32_t(code[word_draw]));
	global<float> z = result_of(t, code);
	stream from = stream_of(t.identity, graph_stream, t.step);
	ROLLED
	for (int e = int(threadIdx.x); e < t.n * blocks; e += int(blockDim.x)) {
		int s = e / blocks, first = e % blocks * each;
		uint64_t words[8];
		draw(from, uint32_t(sample_of(t, s)) * draws + draw_from + uint32_t(e % blocks), words);
		auto put = [&](int i, float v) {
			if (first + i < size)
				z[size_t(s) * size + first + i] = v;
		};
		if (normal)
			for (int i = 0; i < 8; i += 2) {
				double z1, z2;
				normal_pair(words[i], words[i + 1], z1, z2);
				put(i, float(z1)), put(i + 1, float(z2));
			}
		else
			for (int i = 0; i < 16; i++)
				put(i, float(uint32_t(words[i / 2] >> (32 * (i % 2))) >> 8) * 0x1p-24f);
	}
}

// rectangle is a part of a plane: some of its rows and columns, and the index of the first element.
struct rectangle {
	int first, rows, columns;
};

// rectangle_of reads a pooling's rectangle for element j of a plane: the pixels of a window, or the windows that a
// pixel lies in.
DEVICE rectangle rectangle_of(global<const int32_t> table, int j) {
	int32_t first = table[2 * j], both = table[2 * j + 1];
	return {first, both >> 16, both & 0xffff};
}

// places_of points to the places that a pooling has taken.
DEVICE global<int32_t> places_of(const tile &t, global<const int32_t> code) {
	return settled(t.indices + size_t(int32_t(code[word_where])) * t.capacity);
}

// in_plane points to element first of one of a tile's planes, of size elements each: an operand has planes of them for
// each sample.
DEVICE global<const float> in_plane(const tile &t, const operand &o, int plane, int planes, int size, int first) {
	if (o.space == in_buffer)
		return o.base + (plane * size + first);
	return row_of(t, o, plane / planes) + (plane % planes * size + first);
}

// maximum is the first of equal maxima, and its place. NaN counts as the largest, so that it isn't lost.
struct maximum {
	int at;
	float best;
	DEVICE void meet(float v, int place) {
		if (!(v <= best) && best == best)
			at = place, best = v;
	}
};

// maxpool writes the maximum of each window and its place in its plane. Windows may all be two by two pixels: then the
// loop over them is unrolled.
template <bool two> DEVICE void maxpool(const tile &t, global<const int32_t> code, const window &w) {
	operand x = operand_of(t, code, word_in0, w.image());
	global<const int32_t> table = table_of(t, code);
	global<float> z = result_of(t, code);
	global<int32_t> places = places_of(t, code);
	ROLLED
	for (counter<1> n(int(threadIdx.x), int(blockDim.x), w.positions()); n.e < t.n * w.result(); n.next()) {
		rectangle r = rectangle_of(table, n.at[0]);
		global<const float> from = in_plane(t, x, n.at[1], w.c, w.h * w.w, r.first);
		maximum m = {0, from[0]};
		if (two) {
			m.meet(from[1], 1);
			m.meet(from[w.w], w.w);
			m.meet(from[w.w + 1], w.w + 1);
		} else {
			ROLLED
			for (int i = 0; i < r.rows; i++)
				ROLLED
				for (int j = 0; j < r.columns; j++)
					m.meet(from[i * w.w + j], i * w.w + j);
		}
		z[n.e] = m.best;
		places[n.e] = r.first + m.at;
	}
}

DEVICE void maxpool(const tile &t, global<const int32_t> code) {
	window w = window_of(code);
	if (w.kh == 2 && w.kw == 2 && w.pad_h == 0 && w.pad_w == 0)
		maxpool<true>(t, code, w);
	else
		maxpool<false>(t, code, w);
}

// maxpool_back adds up, for each pixel, the gradients of the windows that took it. Rectangles may all be two by two:
// then the loop over them is unrolled.
template <bool two> DEVICE void maxpool_back(const tile &t, global<const int32_t> code, const window &w) {
	bool add = int(int32_t(code[word_add])) == 1;
	operand dz = operand_of(t, code, word_in0, w.result());
	global<const int32_t> table = table_of(t, code), places = places_of(t, code);
	global<float> dx = result_of(t, code);
	ROLLED
	for (counter<1> n(int(threadIdx.x), int(blockDim.x), w.h * w.w); n.e < t.n * w.image(); n.next()) {
		rectangle r = rectangle_of(table, n.at[0]);
		global<const float> from = in_plane(t, dz, n.at[1], w.c, w.positions(), r.first);
		global<const int32_t> took = places + (n.at[1] * w.positions() + r.first);
		float sum = 0;
		auto meet = [&](int window) {
			float v = from[window]; // read anyway: lanes then stay together
			if (int32_t(took[window]) == n.at[0])
				sum += v;
		};
		if (two) {
			for (int i = 0; i < 2; i++)
				for (int j = 0; j < 2; j++)
					meet(i * w.out_w + j);
		} else {
			ROLLED
			for (int i = 0; i < r.rows; i++)
				ROLLED
				for (int j = 0; j < r.columns; j++)
					meet(i * w.out_w + j);
		}
		dx[n.e] = add ? float(dx[n.e]) + sum : sum;
	}
}

DEVICE void maxpool_back(const tile &t, global<const int32_t> code) {
	window w = window_of(code);
	if (w.kh == 2 && w.kw == 2 && w.out_h > 1 && w.out_w > 1)
		maxpool_back<true>(t, code, w);
	else
		maxpool_back<false>(t, code, w);
}

// lookup copies the rows of a table, k elements each, that the samples' integers name. The host has checked their
// range.
DEVICE void lookup(const tile &t, global<const int32_t> code) {
	int rows = code[word_rows], k = code[word_k];
	global<const float> table = operand_of(t, code, word_in1, 0).base;
	integers x = integers_of(t, code, word_in0, rows);
	global<float> z = result_of(t, code);
	ROLLED
	for (counter<2> n(int(threadIdx.x), int(blockDim.x), k, rows); n.e < t.n * rows * k; n.next()) {
		int picked = integer_at(t, x, n.at[2], n.at[1]);
		z[n.e] = table[size_t(picked) * k + n.at[0]];
	}
}

// sum_rows adds up one element of the rows at which, k elements each, in their order.
DEVICE float sum_rows(global<const float> x, const equals &which, int k) {
	float sum = x[size_t(int32_t(which.positions[0])) * k];
	for (int i = 1; i < which.count; i++)
		sum += x[size_t(int32_t(which.positions[i])) * k];
	return sum;
}

// grad_lookup adds the gradients of looked-up rows to a gradient of the whole table. A thread adds all that goes to one
// of its elements.
DEVICE void grad_lookup(const tile &t, global<const int32_t> code) {
	int rows = code[word_rows], k = code[word_k], n = code[word_n];
	operand dz = operand_of(t, code, word_in0, rows * k);
	integers x = integers_of(t, code, word_in1, rows);
	global<float> g = result_of(t, code);
	ROLLED
	for (counter<2> c(int(threadIdx.x), int(blockDim.x), k, rows); c.e < t.n * rows * k; c.next()) {
		int s = c.at[2], j = c.at[0];
		equals same = equals_of(t, x, s, c.at[1]);
		if (same.count == 0)
			continue;
		int picked = integer_at(t, x, s, same.positions[0]);
		size_t at = (size_t(s) * n + picked) * k + j;
		g[at] = float(g[at]) + sum_rows(row_of(t, dz, s) + j, same, k);
	}
}

// Of as many rows as this, or more, those of a text's padding, say, each lane adds up some.
enum { many_rows = 32 };

// merge_many adds up one element of the rows at which, k elements each, in the first of them, and sets the others to 0.
// A whole warp calls it, and each lane has rows of its own.
DEVICE void merge_many(global<float> x, const equals &which, int k) {
	float sum = 0;
	for (int i = int(lane()); i < which.count; i += 32)
		sum += x[size_t(int32_t(which.positions[i])) * k];
	sum = warp_sum(sum);
	for (int i = int(lane()); i < which.count; i += 32)
		x[size_t(int32_t(which.positions[i])) * k] = i == 0 ? sum : 0.0f;
}

// merge_few does the same for one lane.
DEVICE void merge_few(global<float> x, const equals &which, int k) {
	x[size_t(int32_t(which.positions[0])) * k] = sum_rows(x, which, k);
	ROLLED
	for (int i = 1; i < which.count; i++)
		x[size_t(int32_t(which.positions[i])) * k] = 0.0f;
}

// merge adds up the rows of a value that go to the same row of a table, in the first of them, and sets the others to 0.
// One warp has all of these rows, so that no barrier is needed.
DEVICE void merge(const tile &t, global<const int32_t> code) {
	int rows = code[word_rows], k = code[word_k];
	integers to = integers_of(t, code, word_in0, rows);
	global<float> z = result_of(t, code);
	ROLLED
	for (int first = int(threadIdx.x / 32) * 32; first < t.n * rows; first += int(blockDim.x)) {
		int mine = first + int(lane());
		unsigned those = lanes_where(mine < t.n * rows && equals_of(t, to, mine / rows, mine % rows).count > 1);
		ROLLED
		for (; those != 0; those &= those - 1) {
			int row = first + ones((those & -those) - 1), s = row / rows;
			equals same = equals_of(t, to, s, row % rows);
			global<float> x = z + size_t(s) * rows * k;
			if (same.count < many_rows)
				ROLLED
				for (int j = int(lane()); j < k; j += 32)
					merge_few(x + j, same, k);
			else
				ROLLED
				for (int j = 0; j < k; j++)
					merge_many(x + j, same, k);
		}
	}
}

// step_back executes an instruction that only gradients need, and reports whether it is one.
DEVICE bool step_back(const tile &t, global<const int32_t> code, int op) {
	switch (op) {
	case op_grad_matmul:
		grad_matmul(t, code);
		break;
	case op_conv_back:
		conv_back(t, code);
		break;
	case op_grad_conv:
		grad_conv(t, code);
		break;
	case op_maxpool_back:
		maxpool_back(t, code);
		break;
	case op_grad_lookup:
		grad_lookup(t, code);
		break;
	case op_merge:
		merge(t, code);
		break;
	case op_normalize_back:
		normalize_back(t, code);
		break;
	case op_dropout:
		dropout(t, code);
		break;
	case op_normals:
	case op_uniforms:
		random_numbers(t, code, op == op_normals);
		break;
	case op_softmax_back:
	case op_logsoftmax_back:
		softmax_back(t, code, op == op_logsoftmax_back);
		break;
	default:
		return false;
	}
	return true;
}

// walk takes the tile through instructions, from one on, of gradients or of a prediction only. The first that are
// prepared compute values that are the same for all samples: they see a tile of one. Every thread of the block calls
// it. A barrier must follow before a thread reads what others have written.
template <bool gradients = true> DEVICE void walk(tile &t, int from, int prepared, int instructions) {
	int n = t.n;
	ROLLED
	for (int i = from; i < instructions; i++) {
		t.n = i < prepared ? 1 : n;
		global<const int32_t> code = t.code + size_t(i) * words;
		if (int(int32_t(code[word_wait])) == 1)
			barrier();
		int op = code[word_op];
		if (gradients && step_back(t, code, op))
			continue;
		switch (op) {
		case op_matmul:
		case op_matmul_back:
			matmul(t, code);
			break;
		case op_conv:
			conv(t, code);
			break;
		case op_maxpool:
			maxpool(t, code);
			break;
		case op_gather:
			gather(t, code, code[word_k]);
			break;
		case op_scatter:
			scatter(t, code, code[word_k]);
			break;
		case op_lookup:
			lookup(t, code);
			break;
		case op_softmax:
		case op_logsoftmax:
			softmax(t, code, op == op_logsoftmax);
			break;
		case op_product:
			product(t, code);
			break;
		case op_normalize:
			normalize(t, code);
			break;
		default:
			elementwise<gradients>(t, code, op);
		}
	}
}
