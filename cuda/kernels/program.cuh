// A step program as a device reads it: instructions of a fixed number of words, and the values they name. Package cuda writes
// the words (lower.go); a test holds the names here to those there.
#pragma once

#include "device.cuh"

// operation: what an instruction does; see compile.Op. Scatters and gradients that are spread are one. A merge makes one of the
// rows of a table's gradient that go to the same row, before they are measured.
enum {
	op_unary, op_binary, op_scalar, op_matmul, op_conv, op_maxpool, op_gather, op_scatter, op_softmax, op_logsoftmax,
	op_fill, op_unary_back, op_binary_back, op_scalar_back, op_matmul_back, op_conv_back, op_maxpool_back, op_softmax_back,
	op_logsoftmax_back, op_grad_matmul, op_grad_conv, op_lookup, op_grad_lookup, op_merge,
	operations
};

// word: an instruction's words. An operand takes three: where it is, from which element on, and the table that says where
// its elements are, or -1. Of integers the third is the column that says which of them are equal, or -1.
enum {
	word_op,
	word_wait,   // 1: what was written before must be seen by all threads now
	word_func,
	word_add,    // 1: add to the result
	word_side,   // the side of a derivative; 1: the number is the first operand
	word_scalar, // a float's bits
	word_size,   // of the result, in elements of one sample
	word_out,
	word_in0 = word_out + 3,
	word_in1 = word_in0 + 3,
	word_in2 = word_in1 + 3,
	word_in3 = word_in2 + 3,
	word_where = word_in3 + 3, // where places lie among the indices
	word_rows, word_k, word_n, word_transposed,
	word_c, word_h, word_w, word_kh, word_kw, word_pad_h, word_pad_w, word_stride_h, word_stride_w, word_dilation_h,
	word_dilation_w, word_out_c, word_out_h, word_out_w,
	word_table,  // of gathers: where each element is; of scatters: who is added where
	word_warp,   // 1: of scatters: a warp for each sum
	words
};

// place: where an operand is.
enum {
	nowhere,
	in_buffer,    // rows of the tile's own memory
	in_data,      // rows of the data
	in_params,    // the run's parameters: one for all samples
	in_constants, // the program's constants: one for all samples
	in_integers   // rows of the data's integers
};

// rule: what a parameter's gradient is made of.
enum {
	of_gradient, // g = G, which is in x
	of_product,  // g = x δ
	of_rows      // a table's: rows, which are in x, and in δ the integers that say whose they are; the other rows are 0
};

// reduction: the words of a parameter's gradient.
enum {
	sum_rule,
	sum_param, // where the parameter begins in the layout
	sum_size,  // the values of one sample's gradient: the parameter's, or those of the rows
	sum_x,
	sum_delta = sum_x + 3,
	sum_k = sum_delta + 3,
	sum_n,
	sum_transposed,
	sum_words
};

// tile is the samples that a block takes through the program, and all that they meet.
struct tile {
	int n;                         // the samples
	int room;                      // the samples that there is memory for
	global<const int32_t> samples; // their places in the data; null: one after another from first on
	int first;
	int places;                    // samples of the data
	global<const float> data;      // column after column
	global<const int32_t> integers; // and those of integers
	global<const float> params, constants;
	global<const int32_t> code, tables;
	global<float> floats;          // the tile's memory
	global<int32_t> indices;
};

DEVICE int sample_of(const tile &t, int s) { return t.samples == nullptr ? t.first + s : int(int32_t(t.samples[s])); }

// operand is a value that an instruction reads, of size elements a sample.
struct operand {
	int place, size;
	global<const float> base;
	global<const int32_t> table; // null: elements lie in order
};

DEVICE operand operand_of(const tile &t, global<const int32_t> code, int word, int size) {
	operand o = {code[word], size, nullptr, nullptr};
	size_t at = size_t(int32_t(code[word + 1]));
	int table = code[word + 2];
	if (o.place == in_buffer)
		o.base = t.floats + at * t.room;
	else if (o.place == in_data)
		o.base = t.data + at * t.places;
	else if (o.place == in_params)
		o.base = t.params + at;
	else if (o.place == in_constants)
		o.base = t.constants + at;
	if (table >= 0)
		o.table = t.tables + table;
	return o;
}

// row_of is where sample s's elements of an operand begin.
DEVICE global<const float> row_of(const tile &t, const operand &o, int s) {
	if (o.place == in_buffer)
		return o.base + size_t(s) * o.size;
	if (o.place == in_data)
		return o.base + size_t(sample_of(t, s)) * o.size;
	return o.base;
}

// value is element e of an operand, counted through all samples of the tile; 0 of one that isn't read.
DEVICE float value(const tile &t, const operand &o, int e) {
	if (o.place == in_buffer)
		return o.base[e];
	if (o.place == nowhere)
		return 0;
	int j = e % o.size;
	if (o.place == in_data)
		return o.base[size_t(sample_of(t, e / o.size)) * o.size + j];
	return o.base[o.table == nullptr ? j : int(int32_t(o.table[j]))];
}

// integers_of is where those of sample s begin that an operand names, of size integers a sample.
DEVICE global<const int32_t> integers_of(const tile &t, global<const int32_t> code, int word, int size, int s) {
	return t.integers + (size_t(int32_t(code[word + 1])) * t.places + size_t(sample_of(t, s)) * size);
}

// equals are places of a sample's integers that are the same, ascending.
struct equals {
	int count;
	global<const int32_t> places;
};

// equals_of returns, for each i below size, other integers of sample s that are the same, or none: each is in one of them. The host has
// written two columns: the places, those of the same integer one after another, and where a new one begins their number, else 0.
DEVICE equals equals_of(const tile &t, global<const int32_t> code, int word, int size, int s, int i) {
	size_t column = size_t(int32_t(code[word + 2])), at = size_t(sample_of(t, s)) * size + i;
	return {t.integers[(column + size) * t.places + at], t.integers + (column * t.places + at)};
}

// result_of is where an instruction's result begins.
DEVICE global<float> result_of(const tile &t, global<const int32_t> code) {
	return t.floats + size_t(int32_t(code[word_out + 1])) * t.room;
}

// Sums over the lanes of a warp, in one order; every lane gets the sum.
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
