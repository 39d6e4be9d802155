#include "walk.cuh"

// predict computes a program's output for all samples of the data, by the parameters of some runs: out has
// a row of size values for each sample, run after run. Blocks share tiles of at most room samples.
KERNEL(predict)(global<const int32_t> code, int instructions, global<const int32_t> output, global<const int32_t> tables,
	global<const float> constants, global<const float> data, global<const int32_t> integers, int places, int runs,
	global<const int32_t> which, int params_size, global<const float> params, int room, int floats, global<float> float_room,
	int indices, global<int32_t> index_room, int size, global<float> out) {
	tile t;
	t.room = room, t.places = places, t.samples = nullptr;
	t.data = data, t.integers = integers, t.constants = constants, t.code = code, t.tables = tables;
	t.floats = float_room + size_t(blockIdx.x) * floats * room;
	t.indices = index_room + size_t(blockIdx.x) * indices * room;
	int tiles = (places + room - 1) / room;
	for (int64_t item = blockIdx.x; item < int64_t(runs) * tiles; item += gridDim.x) {
		int run = int(item / tiles), from = int(item % tiles) * room;
		t.first = from;
		t.n = least(room, places - from);
		t.params = params + size_t(int32_t(which[run])) * params_size;
		barrier(); // nobody reads what the tile before has left
		walk(t, instructions);
		barrier();
		operand z = operand_of(t, output, 0, size);
		global<float> to = out + (size_t(run) * places + from) * size;
		for (int e = int(threadIdx.x); e < t.n * size; e += int(blockDim.x))
			to[e] = value(t, z, e);
	}
}
EXPORT(predict)
