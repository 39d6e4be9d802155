// A source beside right.cu, with a function of the same name as there: each source has its own.
#include "device.cuh"

DEVICE unsigned counted(unsigned bits) { return bits ^ 1; }

KERNEL(other_counted)(global<unsigned> out) { out[0] = counted(3); }
EXPORT(other_counted)

KERNEL(nothing)() {}
EXPORT(nothing)
