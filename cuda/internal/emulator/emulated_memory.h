// The emulated device's memory: allocations, which bytes are written, and the accesses since the last barrier. Part of
// emulated_device.h.
#pragma once

#include <stdlib.h>

#include <vector>

#include "emulated.h"

namespace emulated {

// An address is an allocation's number, which is never used again, and an offset into it. It names that allocation
// however far it is moved: a pointer beyond its end is never one into the next. Offsets start in
// the middle, so that positions before the start have an address, too.
constexpr int offset_bits = 40;
constexpr uint64_t middle = uint64_t(1) << (offset_bits - 1);

// Numbers below are a block's shared arrays; 0 is the null pointer.
constexpr uint64_t first_allocation = 256;
// The shared memory that nvcc gives a block by default.
constexpr uint64_t shared_bytes = 48 * 1024;
constexpr unsigned max_threads = 1024;

inline uint64_t number_of(uint64_t address) { return address >> offset_bits; }
inline int64_t offset_of(uint64_t address) { return int64_t(address & (2 * middle - 1)) - int64_t(middle); }
inline uint64_t address_of(uint64_t number) { return number << offset_bits | middle; }

// Shadow records the accesses to a word of 4 bytes: by which thread in the current epoch, the time between two barriers
// of a block, and by which block in the current launch. If there are several, without a race, then all read or all add.
struct Shadow {
  uint32_t epoch; // of the last access
  uint32_t block;
  uint16_t thread;
  uint8_t did;     // a bit for each Kind: by threads, and from block_bits on by blocks
  uint8_t written; // a bit for each byte
};
constexpr uint16_t several_threads = UINT16_MAX;
constexpr uint32_t several_blocks = UINT32_MAX;
constexpr int block_bits = 4;

// The threads of a block share out elements in turn, so a thread's next access is mostly some multiple of 32 words on.
// Those words' shadows are side by side: in the order of the words each was a cache line of its own, and waiting for
// them took a quarter of the time.
constexpr uint64_t shadow_columns = 64;

struct alignas(64) Memory {
  char *data;
  Shadow *shadow;
  uint64_t bytes;
  uint64_t shadow_rows; // 0: shadows are in the order of the words
  bool live;
  const char *name; // of a shared array
  const void *key;  // of a shared array

  Shadow &shadow_of(uint64_t w) const {
    return shadow[shadow_rows ? w % shadow_columns * shadow_rows + w / shadow_columns : w];
  }
};

inline uint64_t words_of(uint64_t bytes) { return (bytes + 3) / 4; }

// covered returns the bytes of word w, a bit for each, among bytes first, …, end - 1.
inline uint8_t covered(uint64_t w, uint64_t first, uint64_t end) {
  uint64_t from = first > 4 * w ? first - 4 * w : 0, to = end < 4 * w + 4 ? end - 4 * w : 4;
  return uint8_t((1u << to) - (1u << from));
}

inline void mark_written(Memory &m, uint64_t first, uint64_t bytes) {
  for (uint64_t w = first / 4; w < words_of(first + bytes); w++) m.shadow_of(w).written |= covered(w, first, first + bytes);
}

inline bool all_written(const Memory &m, uint64_t first, uint64_t bytes) {
  for (uint64_t w = first / 4; w < words_of(first + bytes); w++) {
    uint8_t want = covered(w, first, first + bytes);
    if ((m.shadow_of(w).written & want) != want) return false;
  }
  return true;
}

// Allocations are the device's memories by number. Numbers of freed ones stay, so that their use is found.
class Allocations {
  std::vector<Memory> memories;
  std::vector<char> shared_data;
  std::vector<Shadow> shared_shadow;
  unsigned shared_arrays = 0;
  uint64_t shared_used = 0;

public:
  Allocations() : memories(first_allocation), shared_data(shared_bytes), shared_shadow(words_of(shared_bytes)) {}
  Allocations(const Allocations &) = delete;
  ~Allocations() {
    for (uint64_t i = first_allocation; i < memories.size(); i++)
      if (memories[i].live) release(memories[i]);
  }

  // find returns the memory of a number, null for none.
  Memory *find(uint64_t number) { return number && number < memories.size() ? &memories[number] : nullptr; }

  // allocate returns an address, 0 if there is no memory.
  uint64_t allocate(uint64_t bytes) {
    if (bytes >= middle || memories.size() >> (64 - offset_bits)) return 0;
    // An odd number of rows, or columns of some sizes had places in the cache for one of them alone.
    uint64_t rows = (words_of(bytes) + shadow_columns - 1) / shadow_columns | 1;
    Memory m = {static_cast<char *>(malloc(bytes)), nullptr, bytes, rows, true, nullptr, nullptr};
    m.shadow = static_cast<Shadow *>(calloc(rows * shadow_columns, sizeof(Shadow)));
    if (!m.data || !m.shadow) {
      release(m);
      return 0;
    }
    memset(m.data, 0xff, bytes); // a float's NaN, an index out of bounds
    memories.push_back(m);
    return address_of(memories.size() - 1);
  }

  static void release(Memory &m) {
    free(m.data);
    free(m.shadow);
    m.data = nullptr;
    m.shadow = nullptr;
    m.live = false;
  }

  void forget_epochs() {
    for (Memory &m : memories)
      for (uint64_t w = 0; m.live && w < words_of(m.bytes); w++) m.shadow_of(w).epoch = 0;
  }

  void start_block() {
    for (; shared_arrays; shared_arrays--) memories[shared_arrays].live = false;
    shared_used = 0;
  }

  // shared returns the number of the array that key stands for, 0 if it doesn't fit.
  uint64_t shared(const void *key, const char *name, uint64_t bytes) {
    for (unsigned i = 1; i <= shared_arrays; i++)
      if (memories[i].key == key && memories[i].bytes == bytes) return i;
    uint64_t room = (bytes + 15) / 16 * 16;
    if (room > shared_bytes - shared_used || shared_arrays + 1 == first_allocation) return 0;
    Memory &m = memories[++shared_arrays];
    m = {&shared_data[shared_used], &shared_shadow[shared_used / 4], bytes, 0, true, name, key};
    shared_used += room;
    memset(m.data, 0xff, bytes);
    memset(static_cast<void *>(m.shadow), 0, words_of(bytes) * sizeof(Shadow));
    return shared_arrays;
  }
};

} // namespace emulated
