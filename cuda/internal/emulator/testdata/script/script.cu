// A kernel that does what a table says: phases of accesses to cells, with a barrier after each phase.
#include "device.cuh"

// For each block, thread, phase and turn, ops has what to do (0 nothing; 1, 2, 3 read, write, add to a cell; 4, 5 read,
// write two of them as one element of 8 bytes) and where.
DEVICE double perform(int op, int cell, global<int> cells, global<double> pairs) {
  if (op == 1) return cells[cell];
  if (op == 2) cells[cell] = cell;
  if (op == 3) return atomic_add(cells, cell, 1);
  if (op == 4) return pairs[cell / 2];
  if (op == 5) pairs[cell / 2] = cell;
  return 0;
}

KERNEL(script_global)(global<const int> ops, int phases, int turns, global<int> cells, global<double> pairs) {
  global<const int> mine = ops + (blockIdx.x * blockDim.x + threadIdx.x) * unsigned(phases * turns * 2);
  double sum = 0;
  for (int p = 0; p < phases; p++) {
    for (int t = 0; t < turns; t++) {
      int i = (p * turns + t) * 2;
      sum += perform(mine[i], mine[i + 1], cells, pairs);
    }
    barrier();
  }
}
EXPORT(script_global)

// The same on shared cells, one at a time.
KERNEL(script_shared)(global<const int> ops, int phases, int turns) {
  SHARED(int, cells, 16);
  for (unsigned i = threadIdx.x; i < 16; i += blockDim.x) cells[i] = 0;
  barrier();
  global<const int> mine = ops + (blockIdx.x * blockDim.x + threadIdx.x) * unsigned(phases * turns * 2);
  double sum = 0;
  for (int p = 0; p < phases; p++) {
    for (int t = 0; t < turns; t++) {
      int i = (p * turns + t) * 2;
      sum += perform(mine[i], mine[i + 1], cells, nullptr);
    }
    barrier();
  }
}
EXPORT(script_shared)
