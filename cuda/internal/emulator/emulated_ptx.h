// What kernels call that package cuda/internal/ptx translates from PTX, besides the functions of emulated.h. Names are
// those of the manual's instructions.
#pragma once

#include <fenv.h>

#include "emulated.h"

#pragma GCC visibility push(hidden)

namespace ptx {

using emulated::wrong;

// bytes is a parameter that is a struct.
template <unsigned n> struct alignas(8) bytes {
  char data[n];
};

template <class T, class U> inline T as(U x) {
  static_assert(sizeof(T) == sizeof(U), "reinterpreted as a type of another size");
  T y;
  memcpy(&y, &x, sizeof y);
  return y;
}
template <class T> inline T read(const char *from) {
  T v;
  memcpy(&v, from, sizeof v);
  return v;
}
template <class T> inline void write(char *to, T v) { memcpy(to, &v, sizeof v); }
template <class T> inline T add(char *to, T v) {
  T old = read<T>(to);
  write<T>(to, T(old + v));
  return old;
}

// A shared address has 32 bits: see translate.go.
constexpr int shared_bits = 24;

inline uint64_t shared_address(uint64_t address, const uint64_t *arrays, uint64_t count, const char *file, int line) {
  uint64_t number = uint32_t(address) >> shared_bits, within = address & ((1u << shared_bits) - 1);
  if (number == 0 || number >= count) wrong("out of bounds: an address of no shared variable", file, line);
  return arrays[number] + within - (1u << (shared_bits - 1));
}

// Local is a thread's local memory.
template <unsigned n> class Local {
  alignas(16) char data[n];
  bool written[n] = {};

public:
  char *touch(uint64_t at, unsigned bytes, emulated::Kind kind, const char *file, int line) {
    if (at % bytes != 0) wrong("misaligned: local memory", file, line);
    if (at < 16 || at >= n || at + bytes > n - 16) wrong("out of bounds: local memory", file, line);
    for (unsigned i = 0; i < bytes; i++) {
      if (kind == emulated::Read && !written[at + i]) wrong("never written: local memory", file, line);
      written[at + i] = true;
    }
    return data + at;
  }
};

inline bool unordered(double x, double y) { return x != x || y != y; }
inline float negative(float x) { return as<float>(as<uint32_t>(x) ^ 0x80000000u); }
inline double negative(double x) { return as<double>(as<uint64_t>(x) ^ 0x8000000000000000ull); }
inline float magnitude(float x) { return as<float>(as<uint32_t>(x) & 0x7fffffffu); }
inline double magnitude(double x) { return as<double>(as<uint64_t>(x) & 0x7fffffffffffffffull); }
inline float root(float x) { return sqrtf(x); }
inline double root(double x) { return sqrt(x); }
inline float saturated(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; } // NaN is 0
inline float fma_rn(float a, float b, float c) {
  emulated::count_multiply_add();
  return fmaf(a, b, c);
}
inline double fma_rn(double a, double b, double c) { return fma(a, b, c); }

// rounded computes an operation in another rounding mode. The volatile numbers keep it between the changes of mode.
template <class Operation> inline float rounded(int mode, Operation o) {
  int before = fegetround();
  fesetround(mode);
  volatile float r = o();
  fesetround(before);
  return r;
}
#define DIRECTED(name, mode)                                                                                           \
  inline float add_##name(float a, float b) {                                                                          \
    volatile float x = a, y = b;                                                                                       \
    return rounded(mode, [&] { return x + y; });                                                                       \
  }                                                                                                                    \
  inline float fma_##name(float a, float b, float c) {                                                                 \
    volatile float x = a, y = b, z = c;                                                                                \
    return rounded(mode, [&] { return fmaf(x, y, z); });                                                               \
  }
DIRECTED(rz, FE_TOWARDZERO)
DIRECTED(rm, FE_DOWNWARD)
DIRECTED(rp, FE_UPWARD)
#undef DIRECTED

inline float rni(float x) { return rintf(x); }
inline float rzi(float x) { return truncf(x); }
inline float rmi(float x) { return floorf(x); }
inline float rpi(float x) { return ceilf(x); }
inline double rni(double x) { return rint(x); }
inline double rzi(double x) { return trunc(x); }
inline double rmi(double x) { return floor(x); }
inline double rpi(double x) { return ceil(x); }

// integer converts a whole number: beyond the range to its end, NaN to 0 for 32 bits and to the lowest number for 64.
template <class T, class F> inline T integer(F x) {
  constexpr T lowest = T(-1) < 0 ? T(uint64_t(1) << (8 * sizeof(T) - 1)) : T(0), highest = T(~lowest);
  constexpr double end = T(-1) < 0 ? double(uint64_t(1) << (8 * sizeof(T) - 1)) : 2.0 * double(uint64_t(1) << (8 * sizeof(T) - 1));
  if (x != x) return sizeof(T) == 4 ? T(0) : T(uint64_t(1) << 63);
  if (double(x) >= end) return highest;
  if (double(x) < double(lowest)) return lowest;
  return T(x);
}

template <class T> inline T min_of(T a, T b) { return a < b ? a : b; }
template <class T> inline T max_of(T a, T b) { return a > b ? a : b; }
// The smaller of two zeros is -0; of NaN and a number it is the number.
template <> inline float min_of(float a, float b) { return a != a ? b : b != b ? a : a < b || (a == b && signbit(a)) ? a : b; }
template <> inline float max_of(float a, float b) { return a != a ? b : b != b ? a : a > b || (a == b && !signbit(a)) ? a : b; }

inline float flushed(float x) { return magnitude(x) < 0x1p-126f ? as<float>(as<uint32_t>(x) & 0x80000000u) : x; }
inline float ex2_approx(float x) { return float(exp2(double(x))); }
inline float rcp_approx_ftz(float x) { return flushed(1.0f / flushed(x)); }

// Shifts by the width or more give zeros, or the sign.
template <class T> inline T shl(T x, uint32_t n) { return n < 8 * sizeof(T) ? T(x << n) : T(0); }
template <class T> inline T shr(T x, uint32_t n) { return n < 8 * sizeof(T) ? T(x >> n) : x < 0 ? T(-1) : T(0); }
inline uint32_t funnel_l(uint32_t low, uint32_t high, uint32_t n) { return n & 31 ? high << (n & 31) | low >> (32 - (n & 31)) : high; }
inline uint32_t funnel_r(uint32_t low, uint32_t high, uint32_t n) { return n & 31 ? low >> (n & 31) | high << (32 - (n & 31)) : low; }
inline uint32_t leading_zeros(uint32_t x) { return x ? uint32_t(__builtin_clz(x)) : 32; }

// mask returns the bits of a field; position and length count to 255.
template <class T> inline T mask(uint32_t position, uint32_t length) {
  T m = 0;
  for (uint32_t i = position & 255; i < 8 * sizeof(T) && i < (position & 255) + (length & 255); i++) m |= T(1) << i;
  return m;
}
template <class T> inline T insert(T field, T into, uint32_t position, uint32_t length) {
  T m = mask<T>(position, length);
  return T((into & ~m) | (shl<T>(field, position & 255) & m));
}
template <class T> inline T extract(T from, uint32_t position, uint32_t length) {
  return T(shr<T>(from, position & 255) & mask<T>(0, length));
}

template <class T> inline T quotient(T a, T b, const char *file, int line) {
  if (b == 0) wrong("division by zero", file, line);
  return T(-1) < 0 && b == T(-1) ? T(0 - std::make_unsigned_t<T>(a)) : T(a / b);
}
template <class T> inline T remainder(T a, T b, const char *file, int line) {
  if (b == 0) wrong("division by zero", file, line);
  return T(-1) < 0 && b == T(-1) ? T(0) : T(a % b);
}

template <class T> inline T product_lo(T a, T b) { return T(std::make_unsigned_t<T>(uint64_t(a) * uint64_t(b))); }
template <class T> inline auto product_wide(T a, T b) {
  using W = std::conditional_t<sizeof(T) == 2, std::conditional_t<(T(-1) < 0), int32_t, uint32_t>,
                               std::conditional_t<(T(-1) < 0), int64_t, uint64_t>>;
  return W(W(a) * W(b));
}
template <class T> inline T product_hi(T a, T b) {
  using W = std::conditional_t<(T(-1) < 0), __int128, unsigned __int128>;
  return T((W(a) * W(b)) >> (8 * sizeof(T)));
}

// What lanes of a warp do together, they all do: the device checks that they are at the same line.
inline uint32_t ballot(bool b, uint32_t lanes, const char *file, int line) {
  if (lanes != ~0u) wrong("a ballot of some lanes", file, line);
  return uint32_t(emulated::wait_for_warp(false, b, 0, file, line));
}
inline uint32_t shuffle_idx(uint32_t v, uint32_t from, uint32_t segment, uint32_t lanes, const char *file, int line) {
  if (lanes != ~0u || segment != 31) wrong("a shuffle of some lanes", file, line);
  return uint32_t(emulated::wait_for_warp(true, v, from & 31, file, line));
}
inline uint32_t shuffle_bfly(uint32_t v, uint32_t reach, uint32_t segment, uint32_t lanes, const char *file, int line) {
  return shuffle_idx(v, (emulated::place().thread ^ reach) & 31, segment, lanes, file, line);
}

} // namespace ptx

#pragma GCC visibility pop
