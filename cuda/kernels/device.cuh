// What kernels may use of a device, and all that they use: plain C++ with a few words for what C++ hasn't. Compiled by
// nvcc the words are CUDA's; compiled by a plain C++ compiler they are the emulated device's (emulated.h), where memory
// is bounds-checked, poisoned and watched for races, and blocks run in a random order.
//
//	KERNEL(name)(parameters) { … }   a kernel, followed by EXPORT(name). Launches are one-dimensional, of up to
//	                                 256 threads a block, a multiple of 32.
//	DEVICE                           before a function that kernels call; it becomes part of them
//	ROLLED                           before a loop that is long and seldom the bottleneck: it is compiled once, not four times
//	global<T>                        a pointer to device memory: p[i] reads and writes, p + i points on
//	SHARED(T, name, n)               an array of a block's shared memory; n is a constant. It holds nothing at first.
//	threadIdx.x, blockIdx.x, blockDim.x, gridDim.x
//	barrier()                        every thread of the block waits; what was written before is seen after
//	atomic_add(p, i, v)              p[i] += v for a global or shared array of int, unsigned or unsigned long long; returns
//	                                 what was there
//	lane(), lanes_where(b), shuffle(v, from)
//	                                 the thread's place in its warp of 32; the lanes where b holds; v of another lane. All
//	                                 32 lanes take part, but those that have returned
//	multiply_add(a, b, c)            a·b + c of floats in one rounding; the emulated device counts them
//	bits_of(x), double_of(b)         a double's bits and back; float_of(b) is the float of 32 bits
//
// Arithmetic: nothing is contracted (nvcc --fmad=false, g++ -ffp-contract=off): a*b + c is two roundings, fma(a, b, c) is
// one, on every device. Division and square root are rounded to nearest.
#pragma once

#ifdef __CUDACC__

#include <cstdint>

#define KERNEL(name) extern "C" __global__ void name
#define EXPORT(name)
#define DEVICE __device__ __forceinline__
#define SHARED(T, name, n) __shared__ T name[n]
#define ROLLED _Pragma("unroll 1")

template <class T> using global = T *;

DEVICE void barrier() { __syncthreads(); }
template <class T, class U> DEVICE T atomic_add(T *p, size_t i, U v) { return atomicAdd(p + i, T(v)); }
// All lanes, not those that happen to be together: after a loop that lanes leave at different times nothing but such a call
// brings them together again.
DEVICE unsigned lane() { return threadIdx.x % 32; }
DEVICE unsigned lanes_where(bool b) { return __ballot_sync(0xffffffffu, b); }
template <class T> DEVICE T shuffle(T v, unsigned from) { return __shfl_sync(0xffffffffu, v, from); }
DEVICE float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
DEVICE uint64_t bits_of(double x) { return uint64_t(__double_as_longlong(x)); }
DEVICE double double_of(uint64_t b) { return __longlong_as_double((long long)b); }

DEVICE float float_of(uint32_t b) { return __uint_as_float(b); }

#else

#include "emulated.h"

#endif
