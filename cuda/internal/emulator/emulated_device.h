// The functions that emulated.h declares, and those that a program calls to run kernels. One source file
// of a library includes it, once.
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include <map>
#include <new>
#include <vector>

#include "emulated.h"
#include "emulated_fiber.h"
#include "emulated_memory.h"

namespace emulated {

// Checks that can be left out, which shows what a fault does without them.
enum Unchecked : uint32_t { Races = 1, Unwritten = 2 };

struct Counters {
  uint64_t launches, bytes_read, bytes_written, atomics, barriers, multiply_adds;
  uint64_t cycles, busiest; // of all blocks; of each launch's busiest block
};

enum State : uint8_t { Ready, AtBarrier, AtBallot, AtShuffle, Returned };

// Thread is a thread of the running block, and its state.
struct Thread {
  Fiber fiber;
  State state;
  unsigned from;        // AtShuffle: the lane whose value it wants
  uint64_t value;       // its own, at a lanes_where or shuffle
  uint64_t result;      // which it gets there
  const char *file;     // where it waits
  int line;
  uint64_t issued;      // instructions since the last barrier
};

// Pointed is an argument, or a field of one at a byte offset, that points to an allocation.
struct Pointed {
  uint64_t allocation;
  size_t argument, offset;
};

struct Device {
  Allocations allocations;
  Stacks stacks;
  std::map<const void *, uint64_t> constants; // addresses of modules' constants
  std::vector<Thread> threads;
  std::vector<unsigned> ready;
  Fiber host;
  Counters counters = {};
  uint64_t random;
  uint32_t unchecked;
  uint32_t epoch = 0;

  // The running launch.
  const Export *kernel = nullptr;
  std::vector<void *> arguments;
  std::vector<Pointed> pointers; // of the arguments and their fields
  uint32_t first_epoch = 0;
  bool faulted = false;

  char error[1000] = "";

  Device(uint64_t seed, uint32_t unchecked) : random(seed), unchecked(unchecked) {}

  // below returns a random number below n: splitmix64, scaled.
  uint64_t below(uint64_t n) {
    uint64_t x = random += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    x ^= x >> 31;
    return uint64_t((unsigned __int128)x * n >> 64);
  }

  __attribute__((format(printf, 2, 3))) bool fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(error, sizeof error, format, list);
    va_end(list);
    return false;
  }
};

static const Export *exports;

void Export::enlist() {
  next = exports;
  exports = this;
}

// complain ends the launch with a message that names the thread, the source line and the fault.
__attribute__((format(printf, 6, 7))) static void complain(Device &d, unsigned block, unsigned thread, const char *file,
                                                           int line, const char *format, ...) {
  char what[700];
  va_list list;
  va_start(list, format);
  vsnprintf(what, sizeof what, format, list);
  va_end(list);
  d.fail("kernel \"%s\", block %u, thread %u, %s:%d: %s", d.kernel->name, block, thread, file, line, what);
  d.faulted = true;
}

// stop never runs the current thread again.
[[noreturn]] static void stop(Device &d) {
  for (;;) Fiber::turn(d.threads[place().thread].fiber, d.host);
}

// Text is on the stack: a thread that is stopped leaves no allocation behind.
struct Text {
  char text[300];
};

// described returns a description of an access.
static Text described(Device &d, uint64_t number, int64_t offset, Access a) {
  static const char *const kinds[] = {"read", "write", "atomic_add"};
  Text t;
  char owner[100] = "";
  const Memory &m = *d.allocations.find(number);
  int64_t element = (offset - (offset < 0 ? a.size - 1 : 0)) / int64_t(a.size);
  if (m.name) {
    snprintf(owner, sizeof owner, "shared array \"%.60s\"", m.name);
  } else if (number < first_allocation) {
    snprintf(owner, sizeof owner, "a shared array of another block");
  } else {
    snprintf(owner, sizeof owner, "allocation %llu", (unsigned long long)(number - first_allocation + 1));
    for (const Pointed &p : d.pointers)
      if (p.allocation == number) {
        char field[40] = "";
        if (p.offset) snprintf(field, sizeof field, " at byte %zu", p.offset);
        snprintf(owner, sizeof owner, "allocation %llu, argument %zu%s,", (unsigned long long)(number - first_allocation + 1),
                 p.argument, field);
        break;
      }
  }
  snprintf(t.text, sizeof t.text, "%s of %u bytes at offset %lld (element %lld) of %s of %llu bytes", kinds[a.kind], a.size,
           (long long)offset, (long long)element, owner, (unsigned long long)m.bytes);
  return t;
}

[[noreturn]] __attribute__((noinline)) static void refuse(Device &d, const char *class_, uint64_t number, int64_t offset,
                                                          Access a, const char *file, int line, const char *why = "") {
  complain(d, place().block, place().thread, file, line, "%s: %s%s", class_,
           number ? described(d, number, offset, a).text : "element of the null pointer", why);
  stop(d);
}

// joins adds an access to those that a word has had, and reports whether it is without a race: atomic additions are in
// order among themselves; in any other pair by two both must be reads. Bits of did are from shift on.
template <class Who> static inline bool joins(Who &who, uint8_t &did, int shift, Who me, Who several, Kind kind) {
  int had = did >> shift & 7, now = 1 << kind;
  if (who != me || !had) {
    if (had && (kind == Write || had != now)) return false;
    who = had ? several : me;
  }
  did |= uint8_t(now << shift);
  return true;
}

// conflict returns what makes an access a race.
static const char *conflict(int had, Kind kind) {
  if (had & 1 << Write) return "wrote";
  return kind != Atomic && had & 1 << Atomic ? "atomically added to" : "read";
}

template <class Who>
static Text blame(const char *who, Who other, Who several, const char *did, const char *when) {
  Text t;
  if (other == several)
    snprintf(t.text, sizeof t.text, ", which several %ss %s %s", who, did, when);
  else
    snprintf(t.text, sizeof t.text, ", which %s %u %s %s", who, unsigned(other) - 1, did, when);
  return t;
}

// watch checks one access to one word for races, and records it.
static inline void watch(Device &d, const Place &here, Shadow &s, uint64_t number, int64_t offset, Access a, const char *file, int line) {
  if (s.epoch != d.epoch) {
    s.did = s.epoch < d.first_epoch ? 0 : s.did >> block_bits << block_bits;
    s.epoch = d.epoch;
  }
  if (__builtin_expect(!joins(s.thread, s.did, 0, uint16_t(here.thread + 1), several_threads, a.kind), false))
    refuse(d, "race", number, offset, a, file, line,
           blame("thread", s.thread, several_threads, conflict(s.did, a.kind), "with no barrier between").text);
  if (__builtin_expect(!joins(s.block, s.did, block_bits, here.block + 1, several_blocks, a.kind), false))
    refuse(d, "race between blocks", number, offset, a, file, line,
           blame("block", s.block, several_blocks, conflict(s.did >> block_bits, a.kind), "in the same launch").text);
}

// touch_word checks and records an access to some bytes of a word.
static inline void touch_word(Device &d, const Place &here, Shadow &s, uint8_t bytes, uint64_t number, int64_t offset, Access a,
                              const char *file, int line) {
  if (a.kind == Write)
    s.written |= bytes;
  else if ((s.written & bytes) != bytes && !(d.unchecked & Unwritten))
    refuse(d, "never written", number, offset, a, file, line);
  if (!(d.unchecked & Races)) watch(d, here, s, number, offset, a, file, line);
}

static inline void count(Device &d, uint64_t number, Access a) {
  if (number >= first_allocation) {
    d.counters.bytes_read += a.kind == Read ? a.size : 0;
    d.counters.bytes_written += a.kind == Write ? a.size : 0;
  }
  d.counters.atomics += a.kind == Atomic;
}

static __attribute__((noinline)) char *check(uint64_t address, int64_t index, Access a, const char *file, int line) {
  const Place &here = place();
  Device &d = *here.device;
  uint64_t number = number_of(address);
  Memory *m = d.allocations.find(number);
  if (__builtin_expect(!m, false)) refuse(d, "out of bounds", 0, 0, a, file, line);
  int64_t offset;
  // Far out of bounds, wherever exactly.
  if (__builtin_mul_overflow(index, int64_t(a.size), &offset) || __builtin_add_overflow(offset, offset_of(address), &offset))
    offset = index < 0 ? INT64_MIN / 2 : INT64_MAX / 2;
  if (__builtin_expect(!m->live, false))
    refuse(d, number < first_allocation ? "out of bounds" : "use after free", number, offset, a, file, line);
  if (__builtin_expect(offset < 0 || uint64_t(offset) + a.size > m->bytes, false))
    refuse(d, "out of bounds", number, offset, a, file, line);
  if (__builtin_expect((offset & (a.align - 1)) != 0, false)) refuse(d, "misaligned", number, offset, a, file, line);

  uint64_t first = uint64_t(offset), end = first + a.size;
  if (__builtin_expect(a.size == 4 && first % 4 == 0, true)) // nearly all accesses
    touch_word(d, here, m->shadow_of(first / 4), 0xf, number, offset, a, file, line);
  else
    for (uint64_t w = first / 4; w < words_of(end); w++)
      touch_word(d, here, m->shadow_of(w), covered(w, first, end), number, offset, a, file, line);
  return count(d, number, a), m->data + offset;
}

// Most accesses are as another of the word since the last barrier, with which they don't race. For them this is enough.
char *touch(uint64_t address, int64_t index, Access a, const char *file, int line) {
  const Place &here = place();
  Device &d = *here.device;
  uint64_t number = number_of(address);
  Memory *m = d.allocations.find(number);
  if (uint64_t(index) < middle && a.size == 4 && m && m->live) {
    uint64_t first = uint64_t(4 * index + offset_of(address));
    if (first % 4 == 0 && first / 4 < m->bytes / 4) {
      const Shadow &s = m->shadow_of(first / 4);
      if (s.epoch == d.epoch && s.written == 0xf && s.did >> a.kind & 1 && (s.thread == here.thread + 1 || s.thread == several_threads))
        return count(d, number, a), m->data + first;
    }
  }
  return check(address, index, a, file, line);
}

void count_multiply_add() { place().device->counters.multiply_adds++; }

uint64_t moved(uint64_t address, int64_t index, uint32_t size) {
  int64_t offset;
  // A pointer stays within its allocation's addresses. One that would leave them is out of bounds wherever it is.
  if (__builtin_mul_overflow(index, int64_t(size), &offset) || __builtin_add_overflow(offset, offset_of(address), &offset) ||
      offset < -int64_t(middle) || offset >= int64_t(middle))
    offset = index < 0 ? -int64_t(middle) : int64_t(middle) - 1;
  return address_of(number_of(address)) + uint64_t(offset);
}

uint64_t shared_array(const void *key, const char *name, uint64_t bytes, const char *file, int line) {
  Device &d = *place().device;
  uint64_t number = d.allocations.shared(key, name, bytes);
  if (!number) {
    complain(d, place().block, place().thread, file, line,
             "too much shared memory: no room for \"%.60s\" of %llu bytes; a block has %llu", name,
             (unsigned long long)bytes, (unsigned long long)shared_bytes);
    stop(d);
  }
  return address_of(number);
}

uint64_t constant_array(const void *data, uint64_t bytes) {
  Device &d = *place().device;
  uint64_t &address = d.constants[data];
  if (address == 0 && (address = d.allocations.allocate(bytes)) != 0) {
    Memory &m = *d.allocations.find(number_of(address));
    memcpy(m.data, data, bytes);
    mark_written(m, 0, bytes);
  }
  return address;
}

uint64_t &issued() { return place().device->threads[place().thread].issued; }

void wrong(const char *fault, const char *file, int line) {
  Device &d = *place().device;
  complain(d, place().block, place().thread, file, line, "%s", fault);
  stop(d);
}

} // namespace emulated

#include "emulated_block.h"
#include "emulated_calls.h"
