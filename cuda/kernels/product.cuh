// Products of the tile's values with one another and with parameters, convolutions among them. One loop serves all:
//
//	out(b, m, n) = sum over the steps of left(b, m) · right(b, n)
//
// The output says how: in single precision, or rounded to a grid and counted.
//
// Operands and results are located once for each row and each column: a cursor points to the start of one.
//
// One thread adds up each result, step by step in one order, so that it doesn't depend on the position of its sample in
// the tile. A warp has 8 rows of results and 32 · Columns columns: all lanes share the rows' values, which are read
// once, the columns' values lie side by side, and all sums stay in registers. More columns a lane mean fewer reads for
// as many multiplications; fewer mean more warps at work when results are few.
#pragma once

#include "program.cuh"

DEVICE int minimum(int a, int b) { return a < b ? a : b; }

// rows_lie is how the rows of a left operand lie in memory.
enum rows_lie {
	anyhow,
	side_by_side, // what they have for a step
	in_a_copy,    // the same, in steps that begin at multiples of eight rows: what is beyond the last row is there, too
	along_steps   // each row's steps follow one another, and may be read by four
};

// A unit of work is a warp's. Of several products between two barriers the second begins with the warp that is next
// after the first: before is the number of units before, and multiply returns how many it had.
template <int Columns, class Steps, class Left, class Right, class Out>
DEVICE int multiply(int batches, int m, int n, const Steps &first, const Left &left, const Right &right, const Out &out, int before = 0) {
	constexpr int rows = 8, across = 32 * Columns;
	int down = (m + rows - 1) / rows, over = (n + across - 1) / across, warps = int(blockDim.x / 32);
	for (int u = (int(threadIdx.x / 32) + warps - before % warps) % warps; u < batches * down * over; u += warps) {
		int b = u / (down * over), m0 = u / over % down * rows, n0 = u % over * across + int(lane());
		if (n0 >= n)
			continue;
		typename Left::cursor l[rows];
		typename Right::cursor r[Columns];
		typename Out::sum sums[rows][Columns];
		for (int i = 0; i < rows; i++) {
			l[i] = left.begin(b, minimum(m0 + i, m - 1)); // rows beyond the last repeat its work
			for (int j = 0; j < Columns; j++)
				sums[i][j] = 0;
		}
		for (int j = 0; j < Columns; j++)
			r[j] = right.begin(b, minimum(n0 + 32 * j, n - 1));
		auto add_both = [&](const float *x, const float *y) {
			for (int i = 0; i < rows; i++)
				for (int j = 0; j < Columns; j++)
					sums[i][j] = out.add(x[i], y[j], sums[i][j]);
		};
		auto add = [&](const Steps &step, const float *x) {
			float y[Columns];
			for (int j = 0; j < Columns; j++)
				y[j] = right.read(r[j], step, 0);
			add_both(x, y);
		};
		auto add_up = [&](const auto &read_rows) {
			for (Steps step = first; step.more(); step.next()) {
				float x[rows];
				read_rows(step, x);
				add(step, x);
			}
		};
		if constexpr (Left::lie == in_a_copy) {
			add_up([&](const Steps &step, float *x) {
				for (int i = 0; i < rows; i += 4) {
					four f = left.read_four(l[0], step, i);
					for (int k = 0; k < 4; k++)
						x[i + k] = f.v[k];
				}
			});
		} else {
			auto apart = [&](const Steps &step, float *x) {
				for (int i = 0; i < rows; i++)
					x[i] = left.read(l[i], step, 0);
			};
			if constexpr (Left::lie == along_steps && Right::lie == along_steps) {
				if (left.in_fours() && right.in_fours())
					for (Steps step = first; step.more();) {
						float x[4][rows], y[4][Columns];
						for (int i = 0; i < rows; i++) {
							four f = left.read_four(l[i], step);
							for (int k = 0; k < 4; k++)
								x[k][i] = f.v[k];
						}
						for (int j = 0; j < Columns; j++) {
							four f = right.read_four(r[j], step);
							for (int k = 0; k < 4; k++)
								y[k][j] = f.v[k];
						}
						for (int k = 0; k < 4; k++, step.next())
							add_both(x[k], y[k]);
					}
				else
					add_up(apart);
			} else if constexpr (Left::lie == along_steps) {
				if (left.in_fours())
					for (Steps step = first; step.more();) {
						float x[4][rows];
						for (int i = 0; i < rows; i++) {
							four f = left.read_four(l[i], step);
							for (int k = 0; k < 4; k++)
								x[k][i] = f.v[k];
						}
						for (int k = 0; k < 4; k++, step.next())
							add(step, x[k]);
					}
				else
					add_up(apart);
			} else if (Left::lie == side_by_side && m0 + rows <= m) { // one address serves all rows
				add_up([&](const Steps &step, float *x) {
					for (int i = 0; i < rows; i++)
						x[i] = left.read(l[0], step, i);
				});
			} else {
				add_up(apart);
			}
		}
		for (int j = 0; j < Columns && n0 + 32 * j < n; j++) {
			int column = out.begin(b, n0 + 32 * j);
			for (int i = 0; i < rows; i++)
				if (m0 + i < m)
					out.put(column + (m0 + i) * out.row, sums[i][j]);
		}
	}
	return batches * down * over;
}

// into_buffer writes results to a buffer of the tile, or adds them to it. Rows of results are row elements apart.
struct into_buffer {
	typedef float sum;
	global<float> to;
	bool accumulate;
	int row;
	DEVICE static float add(float x, float y, float sum) { return multiply_add(x, y, sum); }
	DEVICE void put(int i, float v) const { to[i] = accumulate ? float(to[i]) + v : v; }
};

// counted steps through the terms of a product.
struct counted {
	int k, count;
	DEVICE bool more() const { return k < count; }
	DEVICE void next() { k++; }
};

// anywhere is rows or columns that needn't lie side by side.
struct anywhere {
	static constexpr rows_lie lie = anyhow;
};

// copied is the rows of a copy, which an instruction has made so that what all rows read at a step lies side by side.
// A step has a multiple of eight elements, those beyond the last row among them.
struct copied {
	static constexpr rows_lie lie = in_a_copy;
	typedef global<const float> cursor;
	global<const float> p;
	DEVICE cursor begin(int, int m) const { return p + m; }
	template <class Steps> DEVICE static four read_four(const cursor &c, const Steps &step, int ahead) {
		return four_of(c + (step.copy + ahead));
	}
};

// across_rows returns how many elements a step of a copy has for a number of rows.
DEVICE int across_rows(int rows) { return (rows + 7) / 8 * 8; }

// sample_rows are the rows of a tile's matrix, of some rows of k elements for each sample, or parts of them, terms
// long.
struct sample_rows : anywhere {
	static constexpr rows_lie lie = along_steps;
	typedef global<const float> cursor;
	const tile &t;
	operand x;
	int rows, k, terms;
	DEVICE sample_rows(const tile &t, operand x, int rows, int k, int terms) : t(t), x(x), rows(rows), k(k), terms(terms) {}
	DEVICE cursor begin(int part, int m) const { return row_of(t, x, m / rows) + (m % rows * k + part * terms); }
	DEVICE static float read(const cursor &c, const counted &step, int) { return c[step.k]; }
	DEVICE bool in_fours() const { return aligned(x.base) && terms % 4 == 0; }
	DEVICE static four read_four(const cursor &c, const counted &step) { return four_of(c + step.k); }
};

// stored_columns are the columns of a stored matrix, or parts of them: element (step, n) is at step·down + n·along.
struct stored_columns : anywhere {
	typedef global<const float> cursor;
	global<const float> p;
	int down, along, terms;
	DEVICE stored_columns(global<const float> p, int down, int along, int terms) : p(p), down(down), along(along), terms(terms) {}
	DEVICE cursor begin(int part, int n) const { return p + (n * along + part * terms * down); }
	DEVICE float read(const cursor &c, const counted &step, int) const { return c[step.k * down]; }
};

// own_columns are the columns of each sample's own matrix, whose rows have length elements.
struct own_columns : anywhere {
	static constexpr rows_lie lie = side_by_side;
	typedef global<const float> cursor;
	const tile &t;
	operand x;
	int length;
	DEVICE own_columns(const tile &t, operand x, int length) : t(t), x(x), length(length) {}
	DEVICE cursor begin(int s, int n) const { return row_of(t, x, s) + n; }
	DEVICE float read(const cursor &c, const counted &step, int ahead) const { return (c + step.k * length)[ahead]; }
};

struct product_out : into_buffer {
	int batch;
	DEVICE product_out(global<float> to, bool add, int row, int batch) : into_buffer{to, add, row}, batch(batch) {}
	DEVICE int begin(int b, int n) const { return b * batch + n; }
};

// own_rows are the rows of each sample's own matrices, groups of them, of rows rows and k elements each, or the columns
// of such that are stored transposed.
struct own_rows : anywhere {
	static constexpr rows_lie lie = along_steps;
	typedef global<const float> cursor;
	const tile &t;
	operand x;
	int groups, rows, k;
	DEVICE own_rows(const tile &t, operand x, int groups, int rows, int k) : t(t), x(x), groups(groups), rows(rows), k(k) {}
	DEVICE cursor begin(int b, int m) const { return row_of(t, x, b / groups) + (b % groups * rows + m) * k; }
	DEVICE static float read(const cursor &c, const counted &step, int) { return c[step.k]; }
	DEVICE bool in_fours() const { return aligned(x.base) && k % 4 == 0; }
	DEVICE static four read_four(const cursor &c, const counted &step) { return four_of(c + step.k); }
};

// own_sides are the columns of each sample's own matrices, groups of them, of size elements each: element (step, n) is
// at step·down + n·along. If along is 1 they are the rows of transposed matrices, too.
struct own_sides : anywhere {
	static constexpr rows_lie lie = side_by_side;
	typedef global<const float> cursor;
	const tile &t;
	operand x;
	int groups, size, down, along;
	DEVICE own_sides(const tile &t, operand x, int groups, int size, int down, int along)
		: t(t), x(x), groups(groups), size(size), down(down), along(along) {}
	DEVICE cursor begin(int b, int n) const { return row_of(t, x, b / groups) + (b % groups * size + n * along); }
	DEVICE float read(const cursor &c, const counted &step, int ahead) const { return (c + step.k * down)[ahead]; }
};

// window is the geometry of a convolution or a pooling: see compile.Window. Dilations are in tables alone.
struct window {
	int c, h, w, kh, kw, pad_h, pad_w, stride_h, stride_w, out_c, out_h, out_w;
	DEVICE int positions() const { return out_h * out_w; }
	DEVICE int patch() const { return c * kh * kw; }
	DEVICE int image() const { return c * h * w; }
	DEVICE int result() const { return out_c * out_h * out_w; }
};

DEVICE window window_of(global<const int32_t> code) {
	return {code[word_c], code[word_h], code[word_w], code[word_kh], code[word_kw], code[word_pad_h], code[word_pad_w],
		code[word_stride_h], code[word_stride_w], code[word_out_c],
		code[word_out_h], code[word_out_w]};
}

// listed steps through a list of offsets in an image. It reads them ahead, so that no step waits for its own; two more
// follow the list.
struct listed {
	global<const int32_t> list;
	int k, count, at, ahead;
	int copy, across; // offset in a copy, and what a step adds to it
	DEVICE listed(global<const int32_t> list, int count, int across)
		: list(list), k(0), count(count), at(list[0]), ahead(list[1]), copy(0), across(across) {}
	DEVICE bool more() const { return k < count; }
	DEVICE void next() { k++, copy += across, at = ahead, ahead = list[k + 1]; }
};

// patches are a window's positions in all samples' images, sample after sample. Images have no padding: the host has
// an instruction write it.
struct patches : anywhere {
	typedef global<const float> cursor;
	const tile &t;
	operand x;
	int positions;
	global<const int32_t> first; // pixel of each position
	DEVICE patches(const tile &t, operand x, int positions, global<const int32_t> first) : t(t), x(x), positions(positions), first(first) {}
	DEVICE cursor begin(int, int n) const { return row_of(t, x, n / positions) + int32_t(first[n % positions]); }
	DEVICE static float read(const cursor &c, const listed &step, int) { return c[step.at]; }
};

struct conv_out : into_buffer {
	int image;
	DEVICE conv_out(global<float> to, const window &w) : into_buffer{to, false, w.positions()}, image(w.result()) {}
	DEVICE int begin(int, int n) const { return n / row * image + n % row; }
};

// channels are the rows of one sample's result of a convolution.
struct channels : anywhere {
	static constexpr rows_lie lie = along_steps;
	typedef global<const float> cursor;
	const tile &t;
	operand dz;
	int positions;
	DEVICE channels(const tile &t, operand dz, int positions) : t(t), dz(dz), positions(positions) {}
	DEVICE cursor begin(int s, int m) const { return row_of(t, dz, s) + size_t(m) * positions; }
	DEVICE static float read(const cursor &c, const listed &step, int) { return c[step.k]; }
	// A buffer begins at a multiple of 16 bytes.
	DEVICE bool in_fours() const { return dz.space == in_buffer && positions % 4 == 0; }
	DEVICE static four read_four(const cursor &c, const listed &step) { return four_of(c + step.k); }
};

// offsets are the elements of a window over one sample's image, which has no padding.
struct offsets : anywhere {
	typedef global<const float> cursor;
	const tile &t;
	operand x;
	global<const int32_t> at; // the first position
	DEVICE offsets(const tile &t, operand x, global<const int32_t> at) : t(t), x(x), at(at) {}
	DEVICE cursor begin(int s, int n) const { return row_of(t, x, s) + int32_t(at[n]); }
	DEVICE static float read(const cursor &c, const listed &step, int) { return c[step.at]; }
};

// meeting is pixels along one dimension that meet the same elements of a window.
struct meeting {
	int first, step, count, back, pixels, position;
};

DEVICE meeting meeting_of(global<const int32_t> table, int pixel) {
	global<const int32_t> m = table + pixel * meeting_words;
	return {m[meeting_first], m[meeting_step], m[meeting_count], m[meeting_back], m[meeting_pixels], m[meeting_position]};
}

// back_steps steps through the terms of an image's gradient: the elements that meet the pixels, and all filters for
// each of them.
struct back_steps {
	int i, j, o, rows, columns, filters;
	int copy, at;               // offsets: of the element in the copied filters, [elements, filters, channels]; of its
	                            // position in the gradient
	int filter_copy, filter_at; // what the next filter adds to them
	int column_copy, column_at; // the next column, after the last filter
	int row_copy, row_at;       // the next row, after the last column
	DEVICE back_steps(const window &w, int height, int width, const meeting &r, const meeting &c)
		: i(0), j(0), o(0), rows(c.count == 0 ? 0 : r.count), columns(c.count), filters(w.out_c), at(0),
		  filter_copy(across_rows(w.c)), filter_at(height * width) {
		int element = filters * filter_copy;
		copy = (r.first * w.kw + c.first) * element;
		column_copy = (c.step - 1) * element, column_at = -c.back - filters * filter_at;
		row_copy = (r.step * w.kw - columns * c.step) * element, row_at = columns * c.back - r.back * width;
	}
	DEVICE bool more() const { return i < rows; }
	DEVICE void next() {
		copy += filter_copy, at += filter_at;
		if (++o < filters)
			return;
		o = 0, copy += column_copy, at += column_at;
		if (++j < columns)
			return;
		j = 0, i++, copy += row_copy, at += row_at;
	}
};

// pixels are the pixels of all samples' images that certain elements of the window meet: one in every stride, from row
// i and column j. The result's gradient, which they gather, has zeros around it, so that no term needs a comparison.
struct pixels : anywhere {
	typedef global<const float> cursor;
	const tile &t;
	operand dz;
	int width; // of the gradient
	const window &w;
	const meeting &rows, &columns;
	int i, j;
	DEVICE pixels(const tile &t, operand dz, int width, const window &w, const meeting &rows, const meeting &columns, int i, int j)
		: t(t), dz(dz), width(width), w(w), rows(rows), columns(columns), i(i), j(j) {}
	DEVICE int row(int n) const { return n / columns.pixels % rows.pixels; }
	DEVICE int s(int n) const { return n / (rows.pixels * columns.pixels); }
	DEVICE cursor begin(int, int n) const {
		return row_of(t, dz, s(n)) + ((rows.position + row(n)) * width + columns.position + n % columns.pixels);
	}
	DEVICE static float read(const cursor &c, const back_steps &step, int) { return c[step.at]; }
};

struct pixels_out : into_buffer {
	const pixels &at;
	DEVICE pixels_out(global<float> to, bool add, const pixels &at) : into_buffer{to, add, at.w.h * at.w.w}, at(at) {}
	DEVICE int begin(int, int n) const {
		return at.s(n) * at.w.image() + (at.i + at.row(n) * at.w.stride_h) * at.w.w + at.j + n % at.columns.pixels * at.w.stride_w;
	}
};

// matmul multiplies the samples' rows by a stored matrix. If there would be few units of work, it adds up parts of a
// row's terms by themselves, which another instruction then adds up in their order.
DEVICE void matmul(const tile &t, global<const int32_t> code) {
	int parts = code[word_parts], rows = code[word_rows], k = code[word_k], n = code[word_n];
	bool back = int(int32_t(code[word_op])) == op_matmul_back, transposed = int(int32_t(code[word_transposed])) == 1;
	global<const float> w = operand_of(t, code, word_in1, 0).base;
	// The matrix is stored as [k, n], or as [n, k] if it is transposed.
	int by_k = transposed ? 1 : n, by_n = transposed ? k : 1;
	int all = back ? n : k, terms = all / parts, columns = back ? k : n;
	sample_rows x(t, operand_of(t, code, word_in0, rows * all), rows, all, terms);
	stored_columns y(w, back ? by_n : by_k, back ? by_k : by_n, terms);
	product_out z(result_of(t, code), int(int32_t(code[word_add])) == 1, parts * columns, columns);
	multiply<1>(parts, t.n * rows, columns, counted{0, terms}, x, y, z);
}

DEVICE void grad_matmul(const tile &t, global<const int32_t> code) {
	int rows = code[word_rows], k = code[word_k], n = code[word_n];
	own_columns dz(t, operand_of(t, code, word_in0, rows * n), n), x(t, operand_of(t, code, word_in1, rows * k), k);
	bool transposed = int(int32_t(code[word_transposed])) == 1;
	product_out g(result_of(t, code), int(int32_t(code[word_add])) == 1, transposed ? k : n, k * n);
	if (transposed)
		multiply<1>(t.n, n, k, counted{0, rows}, dz, x, g);
	else
		multiply<1>(t.n, k, n, counted{0, rows}, x, dz, g);
}

// product multiplies matrices that each sample has of its own, groups of them. They may be stored transposed.
DEVICE void product(const tile &t, global<const int32_t> code) {
	int groups = code[word_groups], rows = code[word_rows], k = code[word_k], n = code[word_n];
	bool left = int(int32_t(code[word_transposed_left])) == 1, right = int(int32_t(code[word_transposed])) == 1;
	operand x = operand_of(t, code, word_in0, groups * rows * k), y = operand_of(t, code, word_in1, groups * k * n);
	product_out z(result_of(t, code), int(int32_t(code[word_add])) == 1, n, rows * n);
	own_sides columns(t, y, groups, k * n, right ? 1 : n, right ? k : 1);
	if (left)
		multiply<1>(t.n * groups, rows, n, counted{0, k}, own_sides(t, x, groups, rows * k, rows, 1), columns, z);
	else if (right)
		multiply<1>(t.n * groups, rows, n, counted{0, k}, own_rows(t, x, groups, rows, k), own_rows(t, y, groups, n, k), z);
	else
		multiply<1>(t.n * groups, rows, n, counted{0, k}, own_rows(t, x, groups, rows, k), columns, z);
}

DEVICE void conv(const tile &t, global<const int32_t> code) {
	window w = window_of(code);
	copied f = {operand_of(t, code, word_in1, 0).base};
	global<const int32_t> positions = table_of(t, code), window = positions + w.positions();
	patches x(t, operand_of(t, code, word_in0, w.image()), w.positions(), positions);
	multiply<4>(1, w.out_c, t.n * w.positions(), listed(window, w.patch(), across_rows(w.out_c)), f, x, conv_out(result_of(t, code), w));
}

DEVICE void grad_conv(const tile &t, global<const int32_t> code) {
	window w = window_of(code);
	channels dz(t, operand_of(t, code, word_in0, w.result()), w.positions());
	global<const int32_t> positions = table_of(t, code), window = positions + w.positions();
	offsets x(t, operand_of(t, code, word_in1, w.image()), window);
	listed steps(positions, w.positions(), 0);
	product_out g(result_of(t, code), int(int32_t(code[word_add])) == 1, w.patch(), w.out_c * w.patch());
	if (w.patch() > 64)
		multiply<4>(t.n, w.out_c, w.patch(), steps, dz, x, g);
	else
		multiply<2>(t.n, w.out_c, w.patch(), steps, dz, x, g);
}

// conv_back computes an image's gradient. It takes pixels that meet the same elements of the window together, so that
// no term is a needless zero.
DEVICE void conv_back(const tile &t, global<const int32_t> code) {
	window w = window_of(code);
	int height = code[word_rows], width = code[word_n];
	operand dz = operand_of(t, code, word_in0, w.out_c * height * width);
	copied f = {operand_of(t, code, word_in1, 0).base};
	// The pattern repeats after the first rows and columns.
	int down = minimum(w.stride_h, w.h), across = minimum(w.stride_w, w.w), units = 0;
	global<const int32_t> table = table_of(t, code);
	for (int i = 0; i < down; i++)
		for (int j = 0; j < across; j++) {
			meeting rows = meeting_of(table, i), columns = meeting_of(table, down + j);
			pixels at(t, dz, width, w, rows, columns, i, j);
			units += multiply<4>(1, w.c, t.n * rows.pixels * columns.pixels, back_steps(w, height, width, rows, columns), f, at,
				pixels_out(result_of(t, code), int(int32_t(code[word_add])) == 1, at), units);
		}
}
