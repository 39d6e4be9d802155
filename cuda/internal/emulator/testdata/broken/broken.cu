// An element that is kept would be a copy in CUDA and an alias here. It must not compile.
#include "device.cuh"

KERNEL(broken)(global<int> p) {
  auto x = p[0];
  p[1] = x;
}
EXPORT(broken)
