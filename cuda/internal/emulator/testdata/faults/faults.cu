// One kernel for each class of fault. faults_test.go names the lines by the words after "line:".
#include "device.cuh"

// A reduction with one barrier missing.
KERNEL(dropped_barrier)(global<const float> in, global<float> out) {
  SHARED(float, part, 256);
  unsigned t = threadIdx.x;
  part[t] = in[t];
  barrier();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half]; // line: dropped barrier
  }
  if (t == 0) out[0] = part[0];
}
EXPORT(dropped_barrier)

KERNEL(dropped_global_barrier)(global<int> ring) {
  unsigned t = threadIdx.x;
  int v = ring[(t + 1) % blockDim.x];
  ring[t] = v;
}
EXPORT(dropped_global_barrier)

KERNEL(divergent_barrier)(global<int> out) {
  if (threadIdx.x < 7) {
    barrier(); // line: first barrier
  } else {
    barrier(); // line: second barrier
  }
  out[threadIdx.x] = 1;
}
EXPORT(divergent_barrier)

KERNEL(early_return)(global<int> out) {
  if (threadIdx.x == 5) return;
  barrier(); // line: early return
  out[threadIdx.x] = 1;
}
EXPORT(early_return)

KERNEL(divergent_warp)(global<unsigned> out, int how) {
  unsigned v = 0;
  if (threadIdx.x == 3) {
    if (how == 0) barrier(); // line: lane at barrier
    if (how == 1) v = shuffle(v, 0); // line: lane at shuffle
    if (how == 2) v = lanes_where(true); // line: lane at lanes_where
  } else {
    v = lanes_where(true); // line: lanes at lanes_where
  }
  out[threadIdx.x] = v;
}
EXPORT(divergent_warp)

KERNEL(shuffle_from)(global<unsigned> out, unsigned from) {
  if (threadIdx.x == 4) return;
  out[threadIdx.x] = shuffle(threadIdx.x, from); // line: shuffle
}
EXPORT(shuffle_from)

KERNEL(read_at)(global<const int> in, global<int> out, int64_t i) {
  if (threadIdx.x == 1) out[0] = in[i]; // line: read
}
EXPORT(read_at)

KERNEL(write_at)(global<int> out, int64_t i) {
  if (threadIdx.x == 1) out[i] = 1; // line: write
}
EXPORT(write_at)

// As write_at, but the pointer moves instead of the index.
KERNEL(move_to)(global<int> out, int64_t i) {
  global<int> there = out + i;
  there[0] = 1;
}
EXPORT(move_to)

KERNEL(shared_at)(global<int> out, int64_t i) {
  SHARED(int, small, 8);
  SHARED(int, after, 8);
  after[0] = 1;
  small[i] = 1;
  out[0] = small[i];
}
EXPORT(shared_at)

KERNEL(shared_unwritten)(global<int> out) {
  SHARED(int, cells, 8);
  if (threadIdx.x != 2) cells[threadIdx.x] = 1;
  barrier();
  out[threadIdx.x] = cells[threadIdx.x];
}
EXPORT(shared_unwritten)

// What one block leaves in shared memory isn't there for the next.
KERNEL(shared_kept)(global<int> out) {
  SHARED(int, cells, 8);
  if (threadIdx.x == 0 && blockIdx.x == 0) cells[0] = 1;
  if (blockIdx.x == 0) out[0] = cells[0];
  if (blockIdx.x == 1) out[1] = cells[0];
}
EXPORT(shared_kept)

KERNEL(shared_too_much)(global<int> out) {
  SHARED(double, big, 4096);
  SHARED(double, bigger, 4096);
  big[0] = 1;
  bigger[0] = 1;
  out[0] = 1;
}
EXPORT(shared_too_much)

KERNEL(blocks_write)(global<int> out) {
  if (threadIdx.x == 0) out[0] = int(blockIdx.x);
}
EXPORT(blocks_write)

KERNEL(blocks_read)(global<int> flags, global<int> out) {
  if (threadIdx.x == 0) {
    flags[blockIdx.x] = 1;
    out[blockIdx.x] = flags[(blockIdx.x + 1) % gridDim.x];
  }
}
EXPORT(blocks_read)

KERNEL(increment)(global<int> counter) { counter[0]++; }
EXPORT(increment)

KERNEL(block_increment)(global<int> counter) {
  if (threadIdx.x == 0) counter[0] += 1;
}
EXPORT(block_increment)

// Some add atomically, one reads meanwhile.
KERNEL(mixed_atomics)(global<int> counter, global<int> out) {
  if (threadIdx.x == 0)
    out[0] = counter[0];
  else
    atomic_add(counter, 0, 1);
}
EXPORT(mixed_atomics)

// Some blocks add atomically, one reads meanwhile.
KERNEL(mixed_blocks)(global<int> counter, global<int> out) {
  if (blockIdx.x == 3)
    out[0] = counter[0];
  else
    atomic_add(counter, 0, 1);
}
EXPORT(mixed_blocks)

KERNEL(atomic_unwritten)(global<int> counter) { atomic_add(counter, 0, 1); }
EXPORT(atomic_unwritten)

KERNEL(write_double)(global<double> out) { out[0] = 1; }
EXPORT(write_double)
