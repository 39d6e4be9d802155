// Kernels without a fault.
#include "device.cuh"

KERNEL(add)(global<const float> a, global<const float> b, global<float> sum, int n) {
  int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) sum[i] = a[i] + b[i];
}
EXPORT(add)

// Adds up each block's part in shared memory.
KERNEL(reduce)(global<const float> in, global<float> out, int n) {
  SHARED(float, part, 256);
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < unsigned(n) ? in[i] : 0.0f;
  barrier();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    barrier();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
EXPORT(reduce)

// Counts in shared memory, then in global memory.
KERNEL(histogram)(global<const uint8_t> in, global<unsigned> counts, int n) {
  SHARED(unsigned, local, 256);
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  barrier();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < unsigned(n); i += gridDim.x * blockDim.x)
    atomic_add(local, in[i], 1);
  barrier();
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
    if (local[i] != 0) atomic_add(counts, i, local[i]);
}
EXPORT(histogram)

DEVICE unsigned counted(unsigned bits) {
  unsigned n = 0;
  for (; bits; bits &= bits - 1) n++;
  return n;
}

// Keeps the numbers above a limit, in order. One warp; the last lanes return early.
KERNEL(compact)(global<const int> in, global<int> out, global<int> kept, int limit, int n) {
  int base = 0;
  if (int(lane()) >= n) return;
  for (int start = 0; start < n; start += 32) {
    int i = start + int(lane());
    if (i >= n) return;
    int v = in[i];
    unsigned keep = lanes_where(v > limit);
    if (v > limit) out[base + int(counted(keep & ((1u << lane()) - 1)))] = v;
    base += int(counted(keep));
    if (i == n - 1) kept[0] = base;
  }
}
EXPORT(compact)

template <class T> DEVICE T warp_sum(T v) {
  for (unsigned step = 16; step > 0; step /= 2) v += shuffle(v, lane() ^ step);
  return v;
}

KERNEL(warp_sums)(global<const double> in, global<double> out, global<unsigned long long> bits) {
  double sum = warp_sum<double>(in[threadIdx.x]);
  out[threadIdx.x] = sum;
  bits[threadIdx.x] = shuffle(bits_of(sum), 0);
}
EXPORT(warp_sums)

// The two roundings that must be told apart.
KERNEL(fuse)(global<const double> abc, global<double> out, global<const float> single, global<float> single_out) {
  double a = abc[0], b = abc[1], c = abc[2];
  out[0] = a * b + c;
  out[1] = fma(a, b, c);
  float x = single[0], y = single[1], z = single[2];
  single_out[0] = x * y + z;
  single_out[1] = fma(x, y, z);
}
EXPORT(fuse)

// Arguments of all types, and every way to change an element.
KERNEL(types)(global<double> out, int32_t i, uint32_t u, int64_t l, uint64_t ul, float f, double d) {
  global<double> p = out + 1;
  out[0] = i;
  p[0] = u;
  p[1] = double(l);
  p[2] = double(ul);
  p[3] = p[4] = f;
  p[4] += d;
  p[5] = out[0];
  p[5] *= p[4];
  p[5]++;
  p[6] = out != nullptr ? p[5] : 0.0;
  p[6] -= 1;
}
EXPORT(types)

// Structs beside numbers, one of them as large as any.
struct pair {
  global<double> out;
  float a;
  int32_t b;
};
struct largest {
  double unused[15];
  int32_t c, d;
};
KERNEL(structs)(pair p, int32_t i, largest l) {
  p.out[0] = p.a;
  p.out[1] = p.b + i;
  p.out[2] = l.c - l.d;
}
EXPORT(structs)

// The order that threads and blocks run in, as tickets show it.
KERNEL(order)(global<unsigned> ticket, global<unsigned> threads) {
  threads[blockIdx.x * blockDim.x + threadIdx.x] = atomic_add(ticket, 0, 1u);
}
EXPORT(order)

// A pointer to memory of either kind, in functions and in memory.
template <class T> DEVICE T total(global<const T> p, int n) {
  T sum = 0;
  for (int i = 0; i < n; i++) sum += p[i];
  return sum;
}

KERNEL(totals)(global<const global<int>> tables, global<int> out) {
  SHARED(int, own, 4);
  own[threadIdx.x] = int(threadIdx.x) + 1;
  barrier();
  global<int> table = tables[threadIdx.x];
  int sum = table == nullptr ? 0 : total<int>(table + 1, 3);
  out[threadIdx.x] = sum + total<int>(own, 4) + shuffle(own[threadIdx.x], 3);
}
EXPORT(totals)

// After a barrier all threads may read what one wrote, and write what one read.
KERNEL(rotate)(global<int> ring, int rounds) {
  unsigned t = threadIdx.x, next = (t + 1) % blockDim.x;
  for (int r = 0; r < rounds; r++) {
    int v = ring[next];
    barrier();
    ring[t] = v;
    barrier();
  }
}
EXPORT(rotate)

// Reads, and little else: for a benchmark.
KERNEL(reads)(global<const float> in, global<float> out, int n) {
  SHARED(float, own, 256);
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 1.0f;
  barrier();
  float sum = 0;
  for (int i = 0; i < n; i++) sum += in[i] * own[i % 256];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
EXPORT(reads)
