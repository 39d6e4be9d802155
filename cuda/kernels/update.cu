#include "run.cuh"

// power returns b to the n, by squaring from n's lowest bit up.
DEVICE double power(double b, int n) {
	double p = 1;
	for (; n > 0; n >>= 1) {
		if (n & 1)
			p *= b;
		b *= b;
	}
	return p;
}

// release_and_update ends a step of every run that is taking one. A thread has the eight coordinates of one block of
// the noise's stream: it draws their noise, releases sums plus noise on the coarse grid, moves the parameters by the
// optimizer, and clears the sums for the next step. Padding stays as it is. Thread blocks go through run 0, then run 1,
// and so on: update_blocks each.
KERNEL(release_and_update)(group runs, minibatches drawn) {
	unsigned run = blockIdx.x / unsigned(runs.update_blocks), size = unsigned(drawn.size);
	global<int32_t> clock = drawn.clocks + size_t(run) * clock_columns;
	int64_t taken = int64_t(int32_t(clock[clock_from])) + drawn.taken + drawn.slot;
	if (taken >= int32_t(clock[clock_end]))
		return;
	int32_t step = int32_t(taken);
	unsigned block = blockIdx.x % unsigned(runs.update_blocks) * blockDim.x + threadIdx.x;
	if (block == 0)
		clock[clock_done] = step + 1;
	if (block * 8 >= size)
		return;
	global<const uint32_t> id = identity_of(drawn, run);
	global<const double> set = drawn.settings + size_t(run) * setting_columns;
	double grid = set[setting_fine], out = set[setting_coarse], noise = set[setting_deviation] / grid;
	double eta = set[setting_rate];
	double coarsen = grid / out, mean = out / set[setting_divisor];

	double normals[8];
	if (noise > 0) {
		uint64_t words[8];
		draw(stream_of(id, noise_stream, step), block, words);
		for (int i = 0; i < 8; i += 2)
			normal_pair(words[i], words[i + 1], normals[i], normals[i + 1]);
	} else {
		for (int i = 0; i < 8; i++)
			normals[i] = 0;
	}
	bool moments = uint32_t(id[identity_adam]) == 1;
	double b1 = 0, b2 = 0, small = 0, correction = 0;
	if (moments) {
		b1 = set[setting_beta1], b2 = set[setting_beta2], small = set[setting_epsilon];
		eta /= 1 - power(b1, step + 1), correction = 1 / (1 - power(b2, step + 1));
	}
	for (int i = 0; i < 8; i++) {
		size_t j = size_t(block) * 8 + i, at = size_t(run) * size + j;
		if (j >= size_t(size) || (uint32_t(runs.occupied[j / 32]) >> (j % 32) & 1) == 0)
			continue;
		double sum = double((long long)(unsigned long long)(drawn.sums[at]));
		drawn.sums[at] = 0ull;
		double g = rint((sum + rint(normals[i] * noise)) * coarsen) * mean;
		double theta = double(float(drawn.params[at]));
		if (!moments) {
			drawn.params[at] = float(theta - eta * g);
			continue;
		}
		double m = b1 * double(float(runs.firsts[at])) + (1 - b1) * g;
		double v = b2 * double(float(runs.seconds[at])) + (1 - b2) * g * g;
		runs.firsts[at] = float(m);
		runs.seconds[at] = float(v);
		drawn.params[at] = float(theta - eta * m / (sqrt(correction * v) + small));
	}
}
EXPORT(release_and_update)
