// The language of kernels: plain C++ and the names below, which stand for the features of a device that C++ lacks.
// Kernels use nothing else of CUDA. nvcc compiles the names to CUDA's own. Any other C++17 compiler compiles them to
// the emulated device's (emulated.h in cuda/internal/emulator), which checks bounds, poisons new memory, watches for
// races and runs blocks in a random order.
//
//	KERNEL(name)(parameters) { … }   a kernel, followed by EXPORT(name). Launches are one-dimensional, of up to
//	                                 256 threads a block, a multiple of 32.
//	DEVICE                           before a function that kernels call; it becomes part of them
//	ROLLED                           before a loop that is long and seldom the bottleneck: it is compiled once, and
//	                                 not four times
//	global<T>                        a pointer to device memory: p[i] reads and writes, p + i points on
//	SHARED(T, name, n)               an array of a block's shared memory; n is a constant. It holds nothing at first.
//	threadIdx.x, blockIdx.x, blockDim.x, gridDim.x
//	barrier()                        every thread of the block waits; what was written before is seen after
//	atomic_add(p, i, v)              p[i] += v for a global or shared array of int, unsigned or unsigned long long;
//	                                 returns the former value
//	lane(), lanes_where(b), shuffle(v, from)
//	                                 the thread's index in its warp of 32; the lanes where b holds; v of another lane.
//	                                 All 32 lanes take part, except those that have returned
//	multiply_add(a, b, c)            a·b + c of floats in one rounding; the emulated device counts them
//	settled(p)                       p, which the compiler then doesn't compute anew within a loop
//	four_of(p)                       four floats that lie side by side, if aligned(p): at a multiple of 16 bytes
//	ones(b)                          the number of bits of 32 that are 1
//	bits_of(x), double_of(b)         a double's bits and back; word_of(x), float_of(b) a float's
//
// Arithmetic: nothing is contracted (nvcc --fmad=false, g++ -ffp-contract=off): a*b + c is two roundings, fma(a, b, c)
// is one, on every device. Division and square root are rounded to nearest.
//
// A source that compiles both ways keeps some habits:
//
//   - An element gets a type before it is used twice or handed to a template: float x = p[i], not auto. In CUDA auto is
//     a copy; here the compiler refuses it. Copy an element that is a struct before you read its fields.
//   - global<T> has p[i], p + i, and comparison with nullptr. Shared arrays are global<T>, too; pass them on as such.
//   - atomic_add is for int, unsigned and unsigned long long. uint64_t may be another type of the same size.
//   - Parameters are global<T>, float, double, integers of 4 and 8 bytes, and structs that SAME_IN_GO admits. Of a
//     struct of more than 128 bytes nvcc 11.8 forgets that its pointers are to global memory, which makes a kernel
//     slower.
//   - Between two barriers the bytes of one 4-byte word belong to one thread: the emulated device watches words.
//   - A thread waits for others only at barriers, ballots and shuffles.
#pragma once

// SAME_IN_GO checks the layout of a struct that Go fills in: its fields' bytes, no more, aligned to 8.
#define SAME_IN_GO(name, bytes) static_assert(sizeof(name) == (bytes) && sizeof(name) <= 128 && alignof(name) == 8, #name)

#ifdef __CUDACC__

#include <cstdint>

#define KERNEL(name) extern "C" __global__ void name
#define EXPORT(name)
#define DEVICE __device__ __forceinline__
#define SHARED(T, name, n) __shared__ T name[n]
#define ROLLED _Pragma("unroll 1")

template <class T> using global = T *;

// The empty instruction hides how p was computed. Its conversions tell that it is global all the same.
template <class T> DEVICE T *settled(T *p) {
	size_t address = __cvta_generic_to_global(p);
	asm("" : "+l"(address));
	return static_cast<T *>(__cvta_global_to_generic(address));
}

DEVICE void barrier() { __syncthreads(); }
template <class T, class U> DEVICE T atomic_add(T *p, size_t i, U v) { return atomicAdd(p + i, T(v)); }
// All lanes, not those that happen to be together: after a loop that lanes leave at different times nothing but such a
// call brings them together again.
DEVICE unsigned lane() { return threadIdx.x % 32; }
DEVICE unsigned lanes_where(bool b) { return __ballot_sync(0xffffffffu, b); }
template <class T> DEVICE T shuffle(T v, unsigned from) { return __shfl_sync(0xffffffffu, v, from); }
DEVICE float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
struct alignas(16) four {
	float v[4];
};
DEVICE bool aligned(const float *p) { return size_t(p) % sizeof(four) == 0; }
DEVICE four four_of(const float *p) {
	float4 f = *reinterpret_cast<const float4 *>(p);
	return {f.x, f.y, f.z, f.w};
}
DEVICE int ones(uint32_t b) { return __popc(b); }
DEVICE uint64_t bits_of(double x) { return uint64_t(__double_as_longlong(x)); }
DEVICE double double_of(uint64_t b) { return __longlong_as_double((long long)b); }

DEVICE uint32_t word_of(float x) { return __float_as_uint(x); }
DEVICE float float_of(uint32_t b) { return __uint_as_float(b); }

#else

#include "emulated.h"

#endif
