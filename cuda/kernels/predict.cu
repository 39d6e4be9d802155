#include "walk.cuh"

// predict computes a program's output for all samples of the data, by the parameters of some runs. Blocks share the
// tiles.
KERNEL(predict)(prediction p) {
	tile t = tile_of(p.code, p.data);
	int capacity = t.capacity, samples = t.stored, size = p.size;
	int tiles = (samples + capacity - 1) / capacity, prepared_for = -1; // the run whose derived values the block has
	for (int64_t item = blockIdx.x; item < int64_t(p.runs) * tiles; item += gridDim.x) {
		int run = int(item / tiles), from = int(item % tiles) * capacity;
		t.first = from;
		t.n = minimum(capacity, samples - from);
		t.params = p.params + size_t(int32_t(p.which[run])) * p.params_size;
		barrier(); // the former tile's outputs have been read
		walk<false>(t, run == prepared_for ? p.prepared : 0, p.prepared, p.code.instructions);
		prepared_for = run;
		barrier();
		operand z = operand_of(t, p.output, 0, size);
		global<float> to = p.out + (size_t(run) * samples + from) * size;
		for (counter<1> n(int(threadIdx.x), int(blockDim.x), size); n.e < t.n * size; n.next())
			to[n.e] = value(t, z, n.e, n.at[0]);
	}
}
EXPORT(predict)
