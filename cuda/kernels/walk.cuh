// The interpreter: the threads of a block take a tile of samples through a program, one instruction after another.
#pragma once

#include "functions.cuh"
#include "product.cuh"

// elementwise computes a result of which each element depends on the same elements of the operands alone. A thread has
// the same elements in every such instruction, so that no barrier is needed between two of them.
template <bool gradients> DEVICE void elementwise(const tile &t, global<const int32_t> code, int op) {
	int size = code[word_size], f = code[word_func];
	float number = float_of(uint32_t(int32_t(code[word_scalar])));
	bool add = int(int32_t(code[word_add])) == 1, second = int(int32_t(code[word_side])) == 1;
	operand a = operand_of(t, code, word_in0, size), b = operand_of(t, code, word_in1, size);
	operand c = operand_of(t, code, word_in2, size), d = operand_of(t, code, word_in3, size);
	global<float> z = result_of(t, code);
	ROLLED
	for (counter<1> n(int(threadIdx.x), int(blockDim.x), size); n.e < t.n * size; n.next()) {
		float x = value(t, a, n), v = 0;
		switch (op) {
		case op_fill:
			v = number;
			break;
		case op_unary:
			v = unary(f, x);
			break;
		case op_binary:
			v = binary(f, x, value(t, b, n));
			break;
		case op_scalar:
			v = second ? binary(f, number, x) : binary(f, x, number);
			break;
		case op_unary_back:
			if constexpr (gradients)
				v = x * unary_derivative(f, value(t, b, n), value(t, c, n));
			break;
		case op_binary_back:
			if constexpr (gradients)
				v = x * binary_derivative(f, second, value(t, b, n), value(t, c, n), value(t, d, n));
			break;
		default: // op_scalar_back
			if constexpr (gradients) {
				float y = value(t, b, n), of = value(t, c, n);
				v = x * (second ? binary_derivative(f, 1, number, y, of) : binary_derivative(f, 0, y, number, of));
			}
		}
		z[n.e] = add ? float(z[n.e]) + v : v;
	}
}

// gather copies the elements that a table names; 0 for those that it names -1.
DEVICE void gather(const tile &t, global<const int32_t> code, int given) {
	int size = code[word_size], samples = int(int32_t(code[word_once])) == 1 ? 1 : t.n;
	bool add = int(int32_t(code[word_add])) == 1;
	operand x = operand_of(t, code, word_in0, given);
	global<const int32_t> where = t.tables + int32_t(code[word_table]);
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
	global<const int32_t> starts = t.tables + int32_t(code[word_table]), list = starts + (size + 1);
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

// by_two reports whether windows are of two by two pixels, all within the image, as most poolings' are: loops over them
// then are unrolled.
DEVICE bool by_two(const window &w) { return w.kh == 2 && w.kw == 2 && w.pad_h == 0 && w.pad_w == 0; }

// maximum is the first of equal maxima, and its place. NaN counts as the largest, so that it isn't lost.
struct maximum {
	int at;
	float best;
	DEVICE void meet(float v, int place) {
		if (v > best || (v != v && best == best))
			at = place, best = v;
	}
};

// maxpool writes the maximum of each window and its place.
DEVICE void maxpool(const tile &t, global<const int32_t> code) {
	window w = window_of(code);
	bool two = by_two(w);
	operand x = operand_of(t, code, word_in0, w.image());
	global<float> z = result_of(t, code);
	global<int32_t> where = t.indices + size_t(int32_t(code[word_where])) * t.capacity;
	ROLLED
	for (counter<3> n(int(threadIdx.x), int(blockDim.x), w.out_w, w.out_h, w.c); n.e < t.n * w.result(); n.next()) {
		int plane = n.at[2] * w.h * w.w, y = n.at[1] * w.stride_h - w.pad_h, x0 = n.at[0] * w.stride_w - w.pad_w;
		global<const float> image = row_of(t, x, n.at[3]);
		int i0 = y < 0 ? 0 : y, j0 = x0 < 0 ? 0 : x0, first = plane + i0 * w.w + j0;
		maximum m = {first, image[first]};
		if (two) {
			m.meet(image[first + 1], first + 1);
			m.meet(image[first + w.w], first + w.w);
			m.meet(image[first + w.w + 1], first + w.w + 1);
		} else {
			ROLLED
			for (int i = i0; i < minimum(y + w.kh, w.h); i++)
				ROLLED
				for (int j = j0; j < minimum(x0 + w.kw, w.w); j++)
					m.meet(image[plane + i * w.w + j], plane + i * w.w + j);
		}
		z[n.e] = m.best;
		where[n.e] = m.at;
	}
}

// strides returns how many whole strides n has. Most poolings' stride is 1 or 2, and division is slow.
DEVICE int strides(int n, int stride) { return stride == 1 ? n : stride == 2 ? n >> 1 : n / stride; }

// maxpool_back adds up, for each pixel, the gradients of the windows that took it.
DEVICE void maxpool_back(const tile &t, global<const int32_t> code) {
	window w = window_of(code);
	bool two = by_two(w);
	bool add = int(int32_t(code[word_add])) == 1;
	operand dz = operand_of(t, code, word_in0, w.result());
	global<float> dx = result_of(t, code);
	global<const int32_t> where = t.indices + size_t(int32_t(code[word_where])) * t.capacity;
	ROLLED
	for (counter<3> n(int(threadIdx.x), int(blockDim.x), w.w, w.h, w.c); n.e < t.n * w.image(); n.next()) {
		int s = n.at[3], at = n.e - s * w.image(), x = n.at[0] + w.pad_w, y = n.at[1] + w.pad_h;
		int plane = n.at[2] * w.positions();
		global<const float> from = row_of(t, dz, s);
		global<const int32_t> took = where + size_t(s) * w.result();
		int top = y < w.kh ? 0 : strides(y - w.kh, w.stride_h) + 1, left = x < w.kw ? 0 : strides(x - w.kw, w.stride_w) + 1;
		int bottom = minimum(strides(y, w.stride_h), w.out_h - 1), right = minimum(strides(x, w.stride_w), w.out_w - 1);
		float sum = 0;
		if (two) {
			for (int i = 0; i < 2; i++)
				for (int j = 0; j < 2; j++) {
					int o = plane + (top + i) * w.out_w + left + j;
					if (top + i <= bottom && left + j <= right && int32_t(took[o]) == at)
						sum += from[o];
				}
		} else {
			ROLLED
			for (int i = top; i <= bottom; i++)
				ROLLED
				for (int j = left; j <= right; j++) {
					int o = plane + i * w.out_w + j;
					if (int32_t(took[o]) == at)
						sum += from[o];
				}
		}
		dx[n.e] = add ? float(dx[n.e]) + sum : sum;
	}
}

// lookup copies the rows of a table, k elements each, that the samples' integers name. The host has checked their
// range.
DEVICE void lookup(const tile &t, global<const int32_t> code) {
	int rows = code[word_rows], k = code[word_k];
	global<const float> table = operand_of(t, code, word_in1, 0).base;
	global<float> z = result_of(t, code);
	ROLLED
	for (counter<2> n(int(threadIdx.x), int(blockDim.x), k, rows); n.e < t.n * rows * k; n.next()) {
		int picked = integers_of(t, code, word_in0, rows, n.at[2])[n.at[1]];
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
	global<float> g = result_of(t, code);
	ROLLED
	for (counter<2> c(int(threadIdx.x), int(blockDim.x), k, rows); c.e < t.n * rows * k; c.next()) {
		int s = c.at[2], j = c.at[0];
		equals same = equals_of(t, code, word_in1, rows, s, c.at[1]);
		if (same.count == 0)
			continue;
		int picked = integers_of(t, code, word_in1, rows, s)[int32_t(same.positions[0])];
		size_t at = (size_t(s) * n + picked) * k + j;
		g[at] = float(g[at]) + sum_rows(row_of(t, dz, s) + j, same, k);
	}
}

// A warp merges as many rows as this, or more: those of a text's padding, say. It isn't less than a warp has lanes.
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

// merge adds up the rows of a value that go to the same row of a table, in the first of them, and sets the others to 0.
// One thread, or one warp, has an element of all these rows, so that no barrier is needed.
DEVICE void merge(const tile &t, global<const int32_t> code) {
	int rows = code[word_rows], k = code[word_k];
	global<float> z = result_of(t, code);
	ROLLED
	for (counter<2> n(int(threadIdx.x), int(blockDim.x), k, rows); n.e < t.n * rows * k; n.next()) {
		int s = n.at[2];
		equals same = equals_of(t, code, word_in0, rows, s, n.at[1]);
		if (same.count < 2 || same.count >= many_rows)
			continue;
		global<float> x = z + (size_t(s) * rows * k + n.at[0]);
		x[size_t(int32_t(same.positions[0])) * k] = sum_rows(x, same, k);
		ROLLED
		for (int i = 1; i < same.count; i++)
			x[size_t(int32_t(same.positions[i])) * k] = 0.0f;
	}
	ROLLED
	for (int first = int(threadIdx.x / 32) * 32; first < t.n * rows; first += int(blockDim.x)) {
		int mine = first + int(lane());
		bool many = mine < t.n * rows && equals_of(t, code, word_in0, rows, mine / rows, mine % rows).count >= many_rows;
		unsigned those = lanes_where(many);
		if (those == 0)
			continue;
		// One lane has many: the lists of positions follow one another, and its own is at least as long as a warp.
		int row = first + ones(those - 1), s = row / rows;
		equals same = equals_of(t, code, word_in0, rows, s, row % rows);
		ROLLED
		for (int j = 0; j < k; j++)
			merge_many(z + (size_t(s) * rows * k + j), same, k);
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
	case op_softmax_back:
	case op_logsoftmax_back:
		softmax_back(t, code, op == op_logsoftmax_back);
		break;
	default:
		return false;
	}
	return true;
}

// walk takes the tile through instructions, of gradients or of a prediction only. Every thread of the block calls it. A
// barrier must follow before a thread reads what others have written.
template <bool gradients = true> DEVICE void walk(const tile &t, int instructions) {
	ROLLED
	for (int i = 0; i < instructions; i++) {
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
		default:
			elementwise<gradients>(t, code, op);
		}
	}
}
