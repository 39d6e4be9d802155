// A source beside right.cu, with a function of the same name as there: each source has its own.
#include "device.cuh"

DEVICE unsigned ones(unsigned bits) { return bits ^ 1; }

KERNEL(other_ones)(global<unsigned> out) { out[0] = ones(3); }
EXPORT(other_ones)

KERNEL(nothing)() {}
EXPORT(nothing)
