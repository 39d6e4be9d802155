// The emulated device, as kernels see it: the language of device.cuh for a plain C++17 compiler. Its functions are
// compiled once, from emulated_device.h, and linked to any number of kernel sources.
//
// Each thread of a block is a fiber: it runs until it waits or returns, then another one, drawn at random from a seed,
// goes on. Blocks run one after another, in a random order. So a kernel does the same each time for a seed, and an
// order that it must not rely on differs between seeds.
#pragma once

// math.h gives the overloads for float; fma is the C library's, which rounds once on every machine.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>
#include <utility>

#ifdef __FAST_MATH__
#error "kernels need every operation rounded by itself: compile without -ffast-math"
#endif

// No symbol leaves the library. The compiler must know this before it sees a declaration.
#pragma GCC visibility push(hidden)

namespace emulated {

struct Device;

// Place is the running thread's position in the launch.
struct Place {
  unsigned thread, block, threads, blocks;
  Device *device;
};

// The stacks of a device's threads are one mapping, which begins with the place of the running one: no call of the
// loader for a thread's own variable, by each access.
constexpr uintptr_t stacks_bytes = uintptr_t(1) << 29; // more than all stacks; the mapping begins at a multiple

inline __attribute__((always_inline)) Place &place_within(uintptr_t stacks) {
  __asm__("" : "+r"(stacks)); // it isn't derived from what the compiler knows to be there
  return *reinterpret_cast<Place *>(stacks & ~(stacks_bytes - 1));
}

inline __attribute__((always_inline)) Place &place() {
  char here;
  return place_within(reinterpret_cast<uintptr_t>(&here));
}

struct Index {
  unsigned x;
};

enum Kind : uint16_t { Read, Write, Atomic };

struct Access {
  uint32_t size;
  uint16_t align;
  Kind kind;
};

// touch checks an access to element index of the elements at address, and returns the host's address of its bytes. It
// doesn't return after a fault, which ends the launch.
char *touch(uint64_t address, int64_t index, Access access, const char *file, int line);

// shared_array returns the address of the block's array that key stands for, and makes it if the block has none yet.
uint64_t shared_array(const void *key, const char *name, uint64_t bytes, const char *file, int line);

// constant_array returns the address of the device's copy of a module's constants.
uint64_t constant_array(const void *data, uint64_t bytes);

// issued is how many instructions the thread has issued since the last barrier. Kernels that count them add to it.
uint64_t &issued();

// wrong ends the launch with a fault.
[[noreturn]] void wrong(const char *fault, const char *file, int line);

uint64_t moved(uint64_t address, int64_t index, uint32_t size);
void wait_for_block(const char *file, int line);
void count_multiply_add();
uint64_t wait_for_warp(bool shuffles, uint64_t value, unsigned from, const char *file, int line);

template <class T> class Element;

// At is an index and the source line that it was written in.
struct At {
  int64_t index;
  const char *file;
  int line;

  template <class I, std::enable_if_t<std::is_integral_v<I> || std::is_enum_v<I>, int> = 0>
  At(I i, const char *file = __builtin_FILE(), int line = __builtin_LINE()) : index(int64_t(i)), file(file), line(line) {}
  template <class I>
  At(Element<I> &&i, const char *file = __builtin_FILE(), int line = __builtin_LINE())
      : index(int64_t(I(std::move(i)))), file(file), line(line) {}
};

template <class T> T read(uint64_t address, const At &at) {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds plain values");
  T v;
  memcpy(&v, touch(address, at.index, {sizeof(T), alignof(T), Read}, at.file, at.line), sizeof(T));
  return v;
}

template <class T> void write(uint64_t address, const At &at, T v) {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds plain values");
  memcpy(touch(address, at.index, {sizeof(T), alignof(T), Write}, at.file, at.line), &v, sizeof(T));
}

// Element is p[i], which may be read or written. It can't be kept: "auto x = p[i]" would be a
// copy in CUDA and an alias here, so using such an x doesn't compile. Write the type instead of auto.
template <class T> class Element {
  uint64_t address;
  At at;

  T get() const { return read<T>(address, at); }
  T set(T v) const {
    write<T>(address, at, v);
    return v;
  }

public:
  Element(uint64_t address, const At &at) : address(address), at(at) {}
  Element(const Element &) = delete;

  operator T() && { return get(); }
  T operator=(T v) && { return set(v); }
  T operator=(Element &&v) && { return set(v.get()); }
  template <class U> T operator+=(U &&v) && { return set(T(get() + std::forward<U>(v))); }
  template <class U> T operator-=(U &&v) && { return set(T(get() - std::forward<U>(v))); }
  template <class U> T operator*=(U &&v) && { return set(T(get() * std::forward<U>(v))); }
  template <class U> T operator/=(U &&v) && { return set(T(get() / std::forward<U>(v))); }
  template <class U> T operator%=(U &&v) && { return set(T(get() % std::forward<U>(v))); }
  template <class U> T operator&=(U &&v) && { return set(T(get() & std::forward<U>(v))); }
  template <class U> T operator|=(U &&v) && { return set(T(get() | std::forward<U>(v))); }
  template <class U> T operator^=(U &&v) && { return set(T(get() ^ std::forward<U>(v))); }
  template <class U> T operator<<=(U &&v) && { return set(T(get() << std::forward<U>(v))); }
  template <class U> T operator>>=(U &&v) && { return set(T(get() >> std::forward<U>(v))); }
  T operator++() && { return set(T(get() + 1)); }
  T operator--() && { return set(T(get() - 1)); }
  T operator++(int) && {
    T old = get();
    set(T(old + 1));
    return old;
  }
  T operator--(int) && {
    T old = get();
    set(T(old - 1));
    return old;
  }
};

} // namespace emulated

// global<T> is the address of device memory, global or shared: 8 bytes. As with pointers, a global<T> is a global<const
// T>.
template <class T> struct global;

template <class T> struct global<const T> {
  uint64_t address;

  global() = default;
  global(std::nullptr_t) : address(0) {}
  T operator[](emulated::At at) const { return emulated::read<T>(address, at); }
  friend global operator+(global p, emulated::At at) {
    p.address = emulated::moved(p.address, at.index, sizeof(T));
    return p;
  }
  friend bool operator==(global p, std::nullptr_t) { return p.address == 0; }
  friend bool operator!=(global p, std::nullptr_t) { return p.address != 0; }
};

template <class T> struct global : global<const T> {
  using global<const T>::global;
  emulated::Element<T> operator[](emulated::At at) const { return {this->address, at}; }
  friend global operator+(global p, emulated::At at) {
    p.address = emulated::moved(p.address, at.index, sizeof(T));
    return p;
  }
};

namespace emulated {

template <class T, uint64_t n> global<T> shared(const void *key, const char *name, const char *file, int line) {
  static_assert(n > 0, "a shared array holds something");
  global<T> p;
  p.address = shared_array(key, name, n * sizeof(T), file, line);
  return p;
}

// Parameter is the type of a kernel's parameter: a letter, and the number of 8-byte words that a launch passes.
struct Parameter {
  char letter;
  unsigned words;
};

template <class P> struct ParameterOf {
  static constexpr bool whole = std::is_integral_v<P> && !std::is_same_v<P, bool> && (sizeof(P) == 4 || sizeof(P) == 8);
  static constexpr bool real = std::is_same_v<P, float> || std::is_same_v<P, double>;
  static constexpr bool fields = std::is_class_v<P> && std::is_trivially_copyable_v<P> && alignof(P) == 8 && sizeof(P) <= 128;
  static_assert(whole || real || fields, "a kernel's parameters are global<T>, integers of 4 or 8 bytes, float, double, and "
                                         "structs of these of up to 128 bytes that are aligned to 8");
  static constexpr char letter = fields ? 's'
                                 : real ? (sizeof(P) == 4 ? 'f' : 'd')
                                        : std::is_signed_v<P> ? (sizeof(P) == 4 ? 'i' : 'l')
                                                              : (sizeof(P) == 4 ? 'u' : 'L');
  static constexpr Parameter value = {letter, unsigned(sizeof(P) + 7) / 8};
};
template <class T> struct ParameterOf<global<T>> {
  static constexpr Parameter value = {'p', 1};
};

// Two sources may give one name to different structs: these templates are each source's own.
template <class... P> static const Parameter *parameters_of() {
  static const Parameter all[] = {ParameterOf<P>::value..., {0, 0}};
  return all;
}
template <class... P, size_t... I>
static void call(void (*kernel)(P...), void *const *arguments, std::index_sequence<I...>) {
  (void)arguments;
  kernel(*static_cast<const std::remove_cv_t<P> *>(arguments[I])...);
}
template <class... P> static void unpack(void (*code)(), void *const *arguments) {
  call(reinterpret_cast<void (*)(P...)>(code), arguments, std::index_sequence_for<P...>());
}

// Export is an entry of the list of kernels that can be launched.
struct Export {
  const char *name, *file;
  int line;
  const Parameter *parameters; // the last one's letter is 0
  void (*code)();
  void (*call)(void (*code)(), void *const *arguments);
  const Export *next;

  template <class... P>
  Export(const char *name, void (*kernel)(P...), const char *file, int line)
      : name(name), file(file), line(line), parameters(parameters_of<std::remove_cv_t<P>...>()),
        code(reinterpret_cast<void (*)()>(kernel)), call(unpack<P...>) {
    enlist();
  }

private:
  void enlist();
};

} // namespace emulated

// Two sources may use one name, since CUDA's compiler sees each by itself: so kernels are static, and functions, which
// may also be members, leave no symbol behind.
#define KERNEL(name) static void name
#define EXPORT(name) static const emulated::Export name##_export{#name, name, __FILE__, __LINE__};
#define DEVICE __attribute__((always_inline)) inline
#define ROLLED
#define SHARED(T, name, n)                                                                                              \
  static char name##_key;                                                                                              \
  const global<T> name = emulated::shared<T, n>(&name##_key, #name, __FILE__, __LINE__)

#define threadIdx (emulated::Index{emulated::place().thread})
#define blockIdx (emulated::Index{emulated::place().block})
#define blockDim (emulated::Index{emulated::place().threads})
#define gridDim (emulated::Index{emulated::place().blocks})

DEVICE void barrier(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  emulated::wait_for_block(file, line);
}

// CUDA has atomicAdd for these types and for no other of their sizes: not for uint64_t where that is unsigned long.
template <class T, class U> DEVICE T atomic_add(global<T> p, emulated::At at, U v) {
  static_assert(std::is_same_v<T, int> || std::is_same_v<T, unsigned> || std::is_same_v<T, unsigned long long>,
                "atomic_add is for int, unsigned and unsigned long long");
  char *place = emulated::touch(p.address, at.index, {sizeof(T), alignof(T), emulated::Atomic}, at.file, at.line);
  std::make_unsigned_t<T> old, sum; // whose overflow is defined
  memcpy(&old, place, sizeof old);
  sum = old + std::make_unsigned_t<T>(T(std::forward<U>(v)));
  memcpy(place, &sum, sizeof sum);
  return T(old);
}

DEVICE unsigned lane() { return emulated::place().thread % 32; }

DEVICE unsigned lanes_where(bool b, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  return unsigned(emulated::wait_for_warp(false, b, 0, file, line));
}

template <class T>
DEVICE T shuffle(T v, unsigned from, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8), "shuffle is for numbers of 4 or 8 bytes");
  uint64_t word = 0;
  memcpy(&word, &v, sizeof v);
  word = emulated::wait_for_warp(true, word, from, file, line);
  memcpy(&v, &word, sizeof v);
  return v;
}

template <class T>
DEVICE T shuffle(emulated::Element<T> &&v, unsigned from, const char *file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
  return shuffle(T(std::move(v)), from, file, line);
}

DEVICE float multiply_add(float a, float b, float c) {
  emulated::count_multiply_add();
  return fmaf(a, b, c);
}

struct alignas(16) four {
  float v[4];
};

template <class T> DEVICE global<T> settled(global<T> p) { return p; }

DEVICE bool aligned(global<const float> p) { return p.address % sizeof(four) == 0; }

DEVICE four four_of(global<const float> p, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  return emulated::read<four>(p.address, {0, file, line});
}

DEVICE uint64_t bits_of(double x) {
  uint64_t b;
  memcpy(&b, &x, sizeof b);
  return b;
}

DEVICE double double_of(uint64_t b) {
  double x;
  memcpy(&x, &b, sizeof x);
  return x;
}

DEVICE int ones(uint32_t b) { return __builtin_popcount(b); }

DEVICE uint32_t word_of(float x) {
  uint32_t b;
  memcpy(&b, &x, sizeof b);
  return b;
}

DEVICE float float_of(uint32_t b) {
  float x;
  memcpy(&x, &b, sizeof x);
  return x;
}

#pragma GCC visibility pop
