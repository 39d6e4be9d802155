// A step program as a device reads it: bytecode, the values that it names, and the tile of samples that it is applied
// to. Package cuda/internal/walk writes the bytecode; its numbers are generated from the enums below.
#pragma once

#include "run.cuh"

// op: opcodes; see compile.Op. Scatters and gradients that are spread are one. A merge adds up the rows of a table's
// gradient that go to the same row of the table, before they are measured.
enum {
	op_unary, op_binary, op_scalar, op_matmul, op_conv, op_maxpool, op_gather, op_scatter, op_softmax, op_logsoftmax,
	op_fill, op_unary_back, op_binary_back, op_scalar_back, op_matmul_back, op_conv_back, op_maxpool_back, op_softmax_back,
	op_logsoftmax_back, op_grad_matmul, op_grad_conv, op_lookup, op_grad_lookup, op_merge, op_product, op_normalize,
	op_normalize_back, op_dropout, op_normals, op_uniforms,
	operations
};

// word: the words of an instruction. An operand takes three: the space that it lies in, its offset there, and the table
// of its elements' indices, or -1. For an operand of integers the third is the column that lists which of them are
// equal, or -1.
enum {
	word_op,
	word_wait,   // 1: a barrier comes first, so that all threads see what was written
	word_func,
	word_add,    // 1: add to the result
	word_side,   // the side of a derivative; 1: the number is the first operand
	word_scalar, // a float's bits
	word_size,   // elements of the result for one sample
	word_out,
	word_in0 = word_out + 3,
	word_in1 = word_in0 + 3,
	word_in2 = word_in1 + 3,
	word_in3 = word_in2 + 3,
	word_where = word_in3 + 3, // offset of a pooling's places among the indices
	word_rows, // of a convolution's way back: the padded gradient's height; n is its width
	word_k, word_n, word_transposed,
	word_parts, // of a product, whose terms are added up in parts
	word_once = word_parts, // 1: a gather is for the tile and not for each sample
	word_groups = word_parts, // of a product of values: matrices of each sample, and 1 if the left one is transposed
	word_transposed_left,
	// Of a dropout or random numbers: a sample's draws and the first of its own, in blocks of 16; of a dropout, the
	// number below which a draw keeps an element, its low word and its high.
	word_draws = word_parts, word_draw, word_below, word_below_high,
	word_c = word_parts, word_h, word_w, word_kh, word_kw, word_pad_h, word_pad_w, word_stride_h, word_stride_w, word_dilation_h,
	word_dilation_w, word_out_c, word_out_h, word_out_w,
	// Of a gather: the index of each element; of a scatter: the elements that are added up for each result; of a
	// pooling: a rectangle for each element of a plane (rectangle_of); of a convolution and its filters' gradient:
	// offsets in the image of the pixel at which each position begins, then of each element of the window, then two
	// zeros; of its way back: meetings of rows, then of columns.
	word_table,
	word_warp,   // 1: a scatter takes a warp for each sum
	words
};

// meeting: the words of pixels along one dimension of an image that meet the same elements of a convolution's window:
// one in every stride. They meet elements first, first + step, …, count of them, at positions of the window that are
// back apart.
enum {
	meeting_first, meeting_step, meeting_count, meeting_back,
	meeting_pixels,
	// In the padded gradient, at which the first pixel meets the first element. The next one's is 1 more.
	meeting_position,
	meeting_words
};

// in: the space that an operand lies in.
enum {
	nowhere,
	in_buffer,    // rows of the tile's own memory
	in_data,      // rows of the data
	in_params,    // the run's parameters, the same for all samples
	in_constants, // the program's constants, the same for all samples
	in_integers,  // rows of the data's integers
	in_derived    // the block's own memory; the same for all samples
};

// of: the rule by which a parameter's gradient g follows from values.
enum {
	of_gradient, // g = G, which is x
	of_product,  // g = x δ
	of_rows      // g is a table's, and x its rows that aren't 0; δ holds the integers that name them
};

// sum: the words of a reduction, which sums one parameter's gradients.
enum {
	sum_rule,
	sum_param, // offset of the parameter in the layout
	sum_size,  // values of one sample's gradient: the parameter's, or those of the rows
	sum_x,
	sum_delta = sum_x + 3,
	sum_k = sum_delta + 3,
	sum_n,
	sum_transposed,
	sum_words
};

// program is bytecode, and the memory that it needs besides samples and parameters.
struct program {
	global<const int32_t> code;     // instructions, words each
	global<const int32_t> tables;
	global<const float> constants;
	global<float> floats;           // for each block, buffers of float_count floats for each sample of a tile
	global<int32_t> indices;        // and of index_count integers
	int32_t instructions;
	int32_t capacity;               // maximum number of samples in a tile
	int32_t float_count;
	int32_t index_count;
};
SAME_IN_GO(program, 5 * 8 + 4 * 4);

// dataset is samples, column after column.
struct dataset {
	global<const float> floats;
	global<const int32_t> integers;
	int32_t samples;
	int32_t unused;
};
SAME_IN_GO(dataset, 2 * 8 + 2 * 4);

// gradient_program is the program that computes gradients, and the reductions that sum them.
struct gradient_program {
	program code;
	dataset data;
	global<const int32_t> reductions; // sum_words each
	int32_t reduced;                  // the number of reductions
	int32_t prepared;                 // the first instructions compute values that are the same for all samples
};
SAME_IN_GO(gradient_program, sizeof(program) + sizeof(dataset) + 8 + 2 * 4);

// prediction is a program that computes outputs, of what samples and by which parameters.
struct prediction {
	program code;
	dataset data;
	global<const int32_t> output; // the operand that is the output
	global<const int32_t> which;  // the rows of params that predict
	global<const float> params;   // rows of params_size
	global<float> out;            // size values for each sample, run after run
	int32_t runs;
	int32_t params_size;
	int32_t size;
	int32_t prepared; // as in gradient_program
};
SAME_IN_GO(prediction, sizeof(program) + sizeof(dataset) + 4 * 8 + 4 * 4);

// tile is the samples that a block takes through a program together, and all that the program reads and writes.
struct tile {
	int n;                          // samples
	int capacity;                   // samples that buffers are laid out for
	global<const int32_t> samples;  // their numbers in the data; null: first, first + 1, …
	int first;
	int stored;                     // samples of the data
	global<const float> data;       // column after column
	global<const int32_t> integers; // column after column
	global<const float> params, constants;
	global<const uint32_t> identity; // of the run and the step, for draws
	int step;
	global<const int32_t> code, tables;
	global<float> floats;           // the block's buffers
	global<int32_t> indices;
};

// tile_of returns a tile with the block's own buffers. Its samples and parameters are still to be set.
DEVICE tile tile_of(const program &p, const dataset &d) {
	tile t;
	t.n = 0, t.params = nullptr, t.identity = nullptr, t.step = 0;
	t.capacity = p.capacity, t.samples = nullptr, t.first = 0, t.stored = d.samples;
	t.data = d.floats, t.integers = d.integers, t.constants = p.constants, t.code = p.code, t.tables = p.tables;
	t.floats = p.floats + size_t(blockIdx.x) * p.float_count * p.capacity;
	t.indices = p.indices + size_t(blockIdx.x) * p.index_count * p.capacity;
	return t;
}

// sample_of returns the number of the tile's sample s in the data.
DEVICE int sample_of(const tile &t, int s) { return t.samples == nullptr ? t.first + s : int(int32_t(t.samples[s])); }

// operand is a value that an instruction reads: size elements a sample.
struct operand {
	int space, size;
	global<const float> base;
	global<const int32_t> table; // of elements' indices; null: elements lie in order
	// in_order reports whether the elements of all samples lie in order, or aren't read.
	DEVICE bool in_order() const { return space == in_buffer || space == nowhere; }
};

DEVICE operand operand_of(const tile &t, global<const int32_t> code, int word, int size) {
	operand o = {code[word], size, nullptr, nullptr};
	size_t at = size_t(int32_t(code[word + 1]));
	int table = code[word + 2];
	if (o.space == in_buffer || o.space == in_derived)
		o.base = t.floats + at * t.capacity;
	else if (o.space == in_data)
		o.base = t.data + at * t.stored;
	else if (o.space == in_params)
		o.base = t.params + at;
	else if (o.space == in_constants)
		o.base = t.constants + at;
	o.base = settled(o.base);
	if (table >= 0)
		o.table = settled(t.tables + table);
	return o;
}

// row_of points to an operand's elements for sample s.
DEVICE global<const float> row_of(const tile &t, const operand &o, int s) {
	if (o.space == in_buffer)
		return o.base + size_t(s) * o.size;
	if (o.space == in_data)
		return o.base + size_t(sample_of(t, s)) * o.size;
	return o.base;
}

// counter counts through arrays of several dimensions, all samples' one after another, as a thread takes their
// elements: from first in steps. It divides once, and not for each element. at[0] is the index in the last dimension,
// at[dimensions] the sample.
template <int dimensions> struct counter {
	int e, at[dimensions + 1];
	int sizes[dimensions], step, steps[dimensions + 1];

	DEVICE static void divide(const int *sizes, int n, int *at) {
		for (int d = 0; d < dimensions; d++)
			at[d] = n % sizes[d], n /= sizes[d];
		at[dimensions] = n;
	}

	DEVICE counter(int first, int step, int last, int before_last = 1) : e(first), step(step) {
		int given[] = {last, before_last};
		for (int d = 0; d < dimensions; d++)
			sizes[d] = given[d];
		divide(sizes, first, at);
		divide(sizes, step, steps);
	}
	DEVICE void next() {
		e += step;
		for (int d = 0; d <= dimensions; d++)
			at[d] += steps[d];
		for (int d = 0; d < dimensions; d++)
			if (at[d] >= sizes[d])
				at[d] -= sizes[d], at[d + 1]++;
	}
};

// value returns element e of an operand, which is element j of its sample, or 0 if the instruction doesn't read it.
DEVICE float value(const tile &t, const operand &o, int e, int j) {
	if (o.space == in_buffer)
		return o.base[e];
	if (o.table != nullptr)
		return o.base[int32_t(o.table[j])];
	if (o.space == in_data)
		return o.base[size_t(sample_of(t, e / o.size)) * o.size + j];
	return o.space == nowhere ? 0.0f : float(o.base[j]);
}

// integers is a value that an instruction reads, size integers a sample. The host has written two more columns, from
// which follows where a sample has the same integer: positions, grouped by their integer, and counts, which hold a
// group's size at its first position and 0 at the others.
struct integers {
	int size;
	global<const int32_t> values, positions, counts;
};

DEVICE integers integers_of(const tile &t, global<const int32_t> code, int word, int size) {
	size_t stored = size_t(t.stored), at = size_t(int32_t(code[word + 1])) * stored;
	global<const int32_t> positions = settled(t.integers + size_t(int32_t(code[word + 2])) * stored);
	return {size, settled(t.integers + at), positions, positions + size * stored};
}

// integer_at returns integer i of sample s.
DEVICE int integer_at(const tile &t, const integers &x, int s, int i) { return x.values[size_t(sample_of(t, s)) * x.size + i]; }

// equals is the positions at which a sample has the same integer, ascending.
struct equals {
	int count;
	global<const int32_t> positions;
};

// equals_of returns, for each i below size, another integer's positions in sample s, or none, so that each position is
// in one of the results.
DEVICE equals equals_of(const tile &t, const integers &x, int s, int i) {
	size_t at = size_t(sample_of(t, s)) * x.size + i;
	return {x.counts[at], x.positions + at};
}

// table_of points to an instruction's table.
DEVICE global<const int32_t> table_of(const tile &t, global<const int32_t> code) {
	return settled(t.tables + int32_t(code[word_table]));
}

// result_of points to an instruction's result.
DEVICE global<float> result_of(const tile &t, global<const int32_t> code) {
	return settled(t.floats + size_t(int32_t(code[word_out + 1])) * t.capacity);
}

// warp_sum returns the sum over the lanes of a warp to each of them, always added in the same order.
template <class T> DEVICE T warp_sum(T v) {
	for (unsigned reach = 16; reach > 0; reach /= 2)
		v += shuffle(v, lane() ^ reach);
	return v;
}

DEVICE float warp_maximum(float v) {
	for (unsigned reach = 16; reach > 0; reach /= 2) {
		float other = shuffle(v, lane() ^ reach);
		v = other > v ? other : v;
	}
	return v;
}
