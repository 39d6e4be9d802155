#include "run.cuh"

// power is b to the n, by squaring from n's lowest bit up.
DEVICE double power(double b, int n) {
	double p = 1;
	for (; n > 0; n >>= 1) {
		if (n & 1)
			p *= b;
		b *= b;
	}
	return p;
}

// release_and_update ends a step of every run that is taking one. Each thread has eight coordinates, those of one block
// of the noise's stream: it makes their noise, releases what the sums and the noise give, lets the optimizer move the
// parameters, and clears the sums for the next step. Sums are counts of the fine grid. size is that of the layout of
// parameters; bit j%32 of occupied[j/32] is 0 where coordinate j is padding, which stays as it is. Blocks of threads go through run 0, then run 1, and so on: per_run of them each.
KERNEL(release_and_update)(global<const uint32_t> identities, global<const int32_t> clocks, global<const double> settings,
	int size, int per_run, global<const uint32_t> occupied, global<unsigned long long> sums, global<float> params,
	global<float> firsts, global<float> seconds) {
	unsigned run = blockIdx.x / unsigned(per_run);
	int32_t step = clocks[size_t(run) * clock_columns + now];
	unsigned block = blockIdx.x % unsigned(per_run) * blockDim.x + threadIdx.x;
	if (step < 0 || block * 8 >= unsigned(size))
		return;
	global<const double> set = settings + size_t(run) * setting_columns;
	double grid = set[fine], out = set[coarse], noise = set[deviation], batch = set[divisor], eta = set[rate];
	double per_grid = 1 / grid, per_out = 1 / out;

	double normals[8];
	if (noise > 0) {
		uint64_t words[8];
		draw(stream_of(identities, run, noise_stream, step), block, words);
		for (int i = 0; i < 8; i += 2)
			normal_pair(words[i], words[i + 1], normals[i], normals[i + 1]);
	} else {
		for (int i = 0; i < 8; i++)
			normals[i] = 0;
	}
	bool moments = uint32_t(identities[size_t(run) * identity_columns + adam]) == 1;
	double b1 = 0, b2 = 0, small = 0, c1 = 0, c2 = 0;
	if (moments) {
		b1 = set[beta1], b2 = set[beta2], small = set[epsilon];
		c1 = 1 - power(b1, step + 1), c2 = 1 - power(b2, step + 1);
	}
	for (int i = 0; i < 8; i++) {
		size_t j = size_t(block) * 8 + i, at = size_t(run) * size + j;
		if (j >= size_t(size) || (uint32_t(occupied[j / 32]) >> (j % 32) & 1) == 0)
			continue;
		double sum = double((long long)(unsigned long long)(sums[at])) * grid;
		sums[at] = 0ull;
		double noisy = sum + rint(normals[i] * noise * per_grid) * grid;
		double g = rint(noisy * per_out) * out / batch;
		double theta = double(float(params[at]));
		if (!moments) {
			params[at] = float(theta - eta * g);
			continue;
		}
		double m = b1 * double(float(firsts[at])) + (1 - b1) * g;
		double v = b2 * double(float(seconds[at])) + (1 - b2) * g * g;
		firsts[at] = float(m);
		seconds[at] = float(v);
		params[at] = float(theta - eta * (m / c1) / (sqrt(v / c2) + small));
	}
}
EXPORT(release_and_update)
