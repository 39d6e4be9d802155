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
		if (Left::side_by_side && m0 + rows <= m) { // one address serves all rows
			for (Steps step = first; step.more(); step.next()) {
				float x[rows], y[Columns];
				for (int i = 0; i < rows; i++)
					x[i] = left.read(l[0], step, i);
				for (int j = 0; j < Columns; j++)
					y[j] = right.read(r[j], step, 0);
				for (int i = 0; i < rows; i++)
					for (int j = 0; j < Columns; j++)
						sums[i][j] = out.add(x[i], y[j], sums[i][j]);
			}
		} else {
			for (Steps step = first; step.more(); step.next()) {
				float x[rows], y[Columns];
				for (int i = 0; i < rows; i++)
					x[i] = left.read(l[i], step, 0);
				for (int j = 0; j < Columns; j++)
					y[j] = right.read(r[j], step, 0);
				for (int i = 0; i < rows; i++)
					for (int j = 0; j < Columns; j++)
						sums[i][j] = out.add(x[i], y[j], sums[i][j]);
			}
		}
		for (int j = 0; j < Columns && n0 + 32 * j < n; j++) {
			size_t column = out.begin(b, n0 + 32 * j);
			for (int i = 0; i < rows; i++)
				if (m0 + i < m)
					out.put(column + size_t(m0 + i) * out.row, sums[i][j]);
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
	DEVICE void put(size_t i, float v) const { to[i] = accumulate ? float(to[i]) + v : v; }
};

// counted steps through the terms of a product.
struct counted {
	int k, count;
	DEVICE bool more() const { return k < count; }
	DEVICE void next() { k++; }
};

// strided is a row or column of a matrix, which begins at p.
struct strided {
	global<const float> p;
	int stride;
};

// anywhere is rows or columns that needn't lie side by side.
struct anywhere {
	static constexpr bool side_by_side = false;
};

struct matrix_cursor : anywhere {
	typedef strided cursor;
	DEVICE static float read(const strided &c, const counted &step, int) { return c.p[size_t(step.k) * c.stride]; }
};

// sample_rows are the rows of a tile's matrix, of some rows of k elements for each sample, or parts of them, terms
// long.
struct sample_rows : matrix_cursor {
	const tile &t;
	operand x;
	int rows, k, terms;
	DEVICE sample_rows(const tile &t, operand x, int rows, int k, int terms) : t(t), x(x), rows(rows), k(k), terms(terms) {}
	DEVICE strided begin(int part, int m) const { return {row_of(t, x, m / rows) + m % rows * k + part * terms, 1}; }
};

// stored_columns are the columns of a stored matrix, or parts of them: element (step, n) is at step·down + n·along.
struct stored_columns : matrix_cursor {
	global<const float> p;
	int down, along, terms;
	DEVICE stored_columns(global<const float> p, int down, int along, int terms) : p(p), down(down), along(along), terms(terms) {}
	DEVICE strided begin(int part, int n) const { return {p + (size_t(n) * along + size_t(part) * terms * down), down}; }
};

// own_columns are the columns of each sample's own matrix, whose rows have length elements.
struct own_columns : matrix_cursor {
	const tile &t;
	operand x;
	int length;
	DEVICE own_columns(const tile &t, operand x, int length) : t(t), x(x), length(length) {}
	DEVICE strided begin(int s, int n) const { return {row_of(t, x, s) + n, length}; }
};

struct product_out : into_buffer {
	size_t batch;
	DEVICE product_out(global<float> to, bool add, int row, size_t batch) : into_buffer{to, add, row}, batch(batch) {}
	DEVICE size_t begin(int b, int n) const { return b * batch + n; }
};

// window is the geometry of a convolution: see compile.Window.
struct window {
	int c, h, w, kh, kw, pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w, out_c, out_h, out_w;
	DEVICE int positions() const { return out_h * out_w; }
	DEVICE int patch() const { return c * kh * kw; }
	DEVICE int image() const { return c * h * w; }
	DEVICE int result() const { return out_c * out_h * out_w; }
};

DEVICE window window_of(global<const int32_t> code) {
	return {code[word_c], code[word_h], code[word_w], code[word_kh], code[word_kw], code[word_pad_h], code[word_pad_w],
		code[word_stride_h], code[word_stride_w], code[word_dilation_h], code[word_dilation_w], code[word_out_c],
		code[word_out_h], code[word_out_w]};
}

// patch_steps steps through a window: channels, rows, columns.
struct patch_steps {
	const window &w;
	int k, count, i, j;
	int filter;         // offset of the element in the filters
	int at, row, plane; // its offset from the window's first one; what a row and a channel add to that
	DEVICE patch_steps(const window &w)
		: w(w), k(0), count(w.patch()), i(0), j(0), filter(0), at(0), row(w.dilation_h * w.w - w.kw * w.dilation_w),
		  plane(w.h * w.w - w.kh * w.dilation_h * w.w) {}
	DEVICE bool more() const { return k < count; }
	DEVICE void next() {
		k++, filter += w.out_c, at += w.dilation_w;
		if (++j < w.kw)
			return;
		j = 0, at += row;
		if (++i < w.kh)
			return;
		i = 0, at += plane;
	}
};

// filters are the columns of the filters' matrix as it is copied: [patch, filters].
struct filters {
	static constexpr bool side_by_side = true;
	typedef global<const float> cursor;
	global<const float> p;
	DEVICE cursor begin(int, int m) const { return p + m; }
	DEVICE static float read(const cursor &c, const patch_steps &step, int ahead) { return (c + step.filter)[ahead]; }
};

// patches are a window's positions in all samples' images, sample after sample. Images have no padding: the host has
// an instruction write it.
struct patches : anywhere {
	typedef global<const float> cursor;
	const tile &t;
	operand x;
	const window &w;
	DEVICE patches(const tile &t, operand x, const window &w) : t(t), x(x), w(w) {}
	DEVICE cursor begin(int, int n) const {
		int s = n / w.positions(), p = n % w.positions();
		return row_of(t, x, s) + (p / w.out_w * w.stride_h * w.w + p % w.out_w * w.stride_w);
	}
	DEVICE static float read(const cursor &c, const patch_steps &step, int) { return c[step.at]; }
};

struct conv_out : into_buffer {
	int image;
	DEVICE conv_out(global<float> to, const window &w) : into_buffer{to, false, w.positions()}, image(w.result()) {}
	DEVICE size_t begin(int, int n) const { return size_t(n / row) * image + n % row; }
};

// position_steps steps through a window's positions in an image.
struct position_steps {
	const window &w;
	int k, count, column, at, row; // at is the position's offset from the first one
	DEVICE position_steps(const window &w)
		: w(w), k(0), count(w.positions()), column(0), at(0), row(w.stride_h * w.w - w.out_w * w.stride_w) {}
	DEVICE bool more() const { return k < count; }
	DEVICE void next() {
		k++, at += w.stride_w;
		if (++column < w.out_w)
			return;
		column = 0, at += row;
	}
};

// channels are the rows of one sample's result of a convolution.
struct channels : anywhere {
	typedef global<const float> cursor;
	const tile &t;
	operand dz;
	int positions;
	DEVICE channels(const tile &t, operand dz, int positions) : t(t), dz(dz), positions(positions) {}
	DEVICE cursor begin(int s, int m) const { return row_of(t, dz, s) + size_t(m) * positions; }
	DEVICE static float read(const cursor &c, const position_steps &step, int) { return c[step.k]; }
};

// offsets are the elements of a window over one sample's image, which has no padding.
struct offsets : anywhere {
	typedef global<const float> cursor;
	const tile &t;
	operand x;
	const window &w;
	DEVICE offsets(const tile &t, operand x, const window &w) : t(t), x(x), w(w) {}
	DEVICE cursor begin(int s, int n) const {
		int j = n % w.kw, i = n / w.kw % w.kh, c = n / w.kw / w.kh;
		return row_of(t, x, s) + (size_t(c) * w.h * w.w + i * w.dilation_h * w.w + j * w.dilation_w);
	}
	DEVICE static float read(const cursor &c, const position_steps &step, int) { return c[step.at]; }
};

// meeting is the elements of a window that meet row (or column) first_pixel of an image, and every row a multiple of
// the stride further on, pixels of them in all: elements first, first + step, …, count of them. They meet it at
// positions of the window that are back apart.
struct meeting {
	int first, step, count, back, first_pixel, pixels;
	DEVICE meeting(int first_pixel, int size, int pad, int stride, int dilation, int image)
		: first(0), count(0), first_pixel(first_pixel), pixels((image - first_pixel + stride - 1) / stride) {
		int remainder = int((int64_t(first_pixel) + pad) % stride);
		int common = stride, rest = dilation;
		while (rest != 0) {
			int next = common % rest;
			common = rest, rest = next;
		}
		step = stride / common, back = dilation / common;
		while (first < size && int64_t(first) * dilation % stride != remainder)
			first++;
		if (first < size)
			count = (size - first + step - 1) / step;
	}
	// position returns the window's position at which its first such element meets a pixel. The division has no
	// remainder.
	DEVICE int position(int pixel, int pad, int stride, int dilation) const {
		return int((int64_t(pixel) + pad - int64_t(first) * dilation) / stride);
	}
};

// padded is the geometry of a result's gradient with zeros around it, which an instruction has written, so that no term
// needs a comparison.
struct padded {
	int h, w, top, left;
	DEVICE int plane() const { return h * w; }
};

DEVICE padded padded_of(global<const int32_t> code) { return {code[word_rows], code[word_n], code[word_k], code[word_table]}; }

// back_steps steps through the terms of an image's gradient: filters, and the elements that meet the pixels.
struct back_steps {
	int o, i, j, filters, rows, columns;
	int filter, at;               // offsets: of the element in the filters, of its position in the gradient
	int column_filter, column_at; // what the next column adds to them
	int row_filter, row_at;       // the next row
	int plane_filter, plane_at;   // the next filter
	DEVICE back_steps(const window &w, const padded &p, const meeting &r, const meeting &c)
		: o(r.count == 0 || c.count == 0 ? w.out_c : 0), i(0), j(0), filters(w.out_c), rows(r.count), columns(c.count),
		  filter((r.first * w.kw + c.first) * w.c), at(0), column_filter(c.step * w.c), column_at(-c.back) {
		row_filter = (r.step * w.kw - (columns - 1) * c.step) * w.c, row_at = (columns - 1) * c.back - r.back * p.w;
		plane_filter = (w.kh * w.kw - (rows - 1) * r.step * w.kw - (columns - 1) * c.step) * w.c;
		plane_at = p.plane() + (rows - 1) * r.back * p.w + (columns - 1) * c.back;
	}
	DEVICE bool more() const { return o < filters; }
	DEVICE void next() {
		if (++j < columns) {
			filter += column_filter, at += column_at;
			return;
		}
		j = 0;
		if (++i < rows) {
			filter += row_filter, at += row_at;
			return;
		}
		i = 0, o++, filter += plane_filter, at += plane_at;
	}
};

// elements are the filters' elements over one channel of the image. They are copied: [filters, elements, channels].
struct elements {
	static constexpr bool side_by_side = true;
	typedef global<const float> cursor;
	global<const float> p;
	DEVICE cursor begin(int, int c) const { return p + c; }
	DEVICE static float read(const cursor &c, const back_steps &step, int ahead) { return (c + step.filter)[ahead]; }
};

// pixels are the pixels of all samples' images that certain elements of the window meet.
struct pixels : anywhere {
	typedef global<const float> cursor;
	const tile &t;
	operand dz;
	const window &w;
	const padded &p;
	const meeting &rows, &columns;
	DEVICE pixels(const tile &t, operand dz, const window &w, const padded &p, const meeting &rows, const meeting &columns)
		: t(t), dz(dz), w(w), p(p), rows(rows), columns(columns) {}
	DEVICE int y(int n) const { return rows.first_pixel + n / columns.pixels % rows.pixels * w.stride_h; }
	DEVICE int x(int n) const { return columns.first_pixel + n % columns.pixels * w.stride_w; }
	DEVICE int s(int n) const { return n / (rows.pixels * columns.pixels); }
	DEVICE cursor begin(int, int n) const {
		int row = rows.position(y(n), w.pad_h, w.stride_h, w.dilation_h) + p.top;
		int column = columns.position(x(n), w.pad_w, w.stride_w, w.dilation_w) + p.left;
		return row_of(t, dz, s(n)) + (row * p.w + column);
	}
	DEVICE static float read(const cursor &c, const back_steps &step, int) { return c[step.at]; }
};

struct pixels_out : into_buffer {
	const pixels &at;
	DEVICE pixels_out(global<float> to, bool add, const pixels &at) : into_buffer{to, add, at.w.h * at.w.w}, at(at) {}
	DEVICE size_t begin(int, int n) const { return size_t(at.s(n)) * at.w.image() + at.y(n) * at.w.w + at.x(n); }
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
	product_out g(result_of(t, code), int(int32_t(code[word_add])) == 1, transposed ? k : n, size_t(k) * n);
	if (transposed)
		multiply<1>(t.n, n, k, counted{0, rows}, dz, x, g);
	else
		multiply<1>(t.n, k, n, counted{0, rows}, x, dz, g);
}

DEVICE void conv(const tile &t, global<const int32_t> code) {
	window w = window_of(code);
	filters f = {operand_of(t, code, word_in1, 0).base};
	patches x(t, operand_of(t, code, word_in0, w.image()), w);
	multiply<4>(1, w.out_c, t.n * w.positions(), patch_steps(w), f, x, conv_out(result_of(t, code), w));
}

DEVICE void grad_conv(const tile &t, global<const int32_t> code) {
	window w = window_of(code);
	channels dz(t, operand_of(t, code, word_in0, w.result()), w.positions());
	offsets x(t, operand_of(t, code, word_in1, w.image()), w);
	product_out g(result_of(t, code), int(int32_t(code[word_add])) == 1, w.patch(), size_t(w.out_c) * w.patch());
	if (w.patch() > 64)
		multiply<4>(t.n, w.out_c, w.patch(), position_steps(w), dz, x, g);
	else
		multiply<2>(t.n, w.out_c, w.patch(), position_steps(w), dz, x, g);
}

// conv_back computes an image's gradient. It takes pixels that meet the same elements of the window together, so that
// no term is a needless zero.
DEVICE void conv_back(const tile &t, global<const int32_t> code) {
	window w = window_of(code);
	padded p = padded_of(code);
	operand dz = operand_of(t, code, word_in0, w.out_c * p.plane());
	elements f = {operand_of(t, code, word_in1, 0).base};
	int units = 0;
	// The pattern repeats after the first rows and columns.
	for (int i = 0; i < minimum(w.stride_h, w.h); i++)
		for (int j = 0; j < minimum(w.stride_w, w.w); j++) {
			meeting rows(i, w.kh, w.pad_h, w.stride_h, w.dilation_h, w.h), columns(j, w.kw, w.pad_w, w.stride_w, w.dilation_w, w.w);
			pixels at(t, dz, w, p, rows, columns);
			units += multiply<4>(1, w.c, t.n * rows.pixels * columns.pixels, back_steps(w, p, rows, columns), f, at,
				pixels_out(result_of(t, code), int(int32_t(code[word_add])) == 1, at), units);
		}
}
