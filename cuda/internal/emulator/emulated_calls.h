// The functions that a program calls, by C's conventions. They return 0 after an error, which emulated_error describes.
// A device takes one call at a time; devices share nothing. Part of emulated_device.h.
#pragma once

#define EMULATED_CALL extern "C" __attribute__((visibility("default")))

namespace emulated {

// span checks that bytes bytes at address + offset are within one allocation, and returns it.
static Memory *span(Device &d, const char *what, uint64_t address, int64_t offset, uint64_t bytes, uint64_t *first) {
  uint64_t number = number_of(address);
  Memory *m = number < first_allocation ? nullptr : d.allocations.find(number);
  if (!m) {
    d.fail("%s: address %#llx isn't of any allocation", what, (unsigned long long)address);
    return nullptr;
  }
  unsigned long long id = number - first_allocation + 1, size = m->bytes;
  if (!m->live) {
    d.fail("%s: use after free: allocation %llu of %llu bytes", what, id, size);
    return nullptr;
  }
  int64_t start;
  if (__builtin_add_overflow(offset, offset_of(address), &start) || start < 0 || uint64_t(start) > size ||
      bytes > size - uint64_t(start)) {
    d.fail("%s: out of bounds: %llu bytes at offset %lld of allocation %llu of %llu bytes", what, (unsigned long long)bytes,
           (long long)offset_of(address) + (long long)offset, id, size);
    return nullptr;
  }
  *first = uint64_t(start);
  return m;
}

static const Export *find_export(const char *name) {
  for (const Export *e = exports; e; e = e->next)
    if (strcmp(e->name, name) == 0) return e;
  return nullptr;
}

static const char *type_of(char letter) {
  switch (letter) {
  case 'p': return "a pointer";
  case 'i': return "an int32";
  case 'u': return "a uint32";
  case 'l': return "an int64";
  case 'L': return "a uint64";
  case 'f': return "a float32";
  case 'd': return "a float64";
  case 's': return "a struct";
  }
  return "of an unknown type";
}

// prepare checks a launch and keeps its arguments, which emulated_launch describes.
static bool prepare(Device &d, const char *name, uint32_t blocks, uint32_t threads, uint64_t *words, const char *letters) {
  const Export *e = find_export(name);
  if (!e) return d.fail("kernel \"%s\": there is no such kernel", name);
  if (blocks < 1 || blocks > INT32_MAX) return d.fail("kernel \"%s\": %u blocks: want 1 to %d", name, blocks, INT32_MAX);
  if (threads < 1 || threads > max_threads)
    return d.fail("kernel \"%s\": %u threads in a block: want 1 to %u", name, threads, max_threads);
  std::vector<Parameter> given;
  d.arguments.clear();
  d.pointers.clear();
  for (size_t i = 0; letters[i]; i++) {
    if (letters[i] == '.') {
      given.back().words++;
    } else {
      given.push_back({letters[i], 1});
      d.arguments.push_back(&words[i]);
    }
    const Parameter &p = given.back();
    if (p.letter == 'p' || p.letter == 's') d.pointers.push_back({number_of(words[i]), given.size() - 1, 8 * size_t(p.words - 1)});
  }
  size_t want = 0;
  while (e->parameters[want].letter) want++;
  if (want != given.size()) return d.fail("kernel \"%s\": %zu arguments: it takes %zu", name, given.size(), want);
  for (size_t i = 0; i < want; i++) {
    Parameter have = given[i], takes = e->parameters[i];
    if (have.letter != takes.letter)
      return d.fail("kernel \"%s\": argument %zu is %s: it takes %s", name, i, type_of(have.letter), type_of(takes.letter));
    if (have.words != takes.words)
      return d.fail("kernel \"%s\": argument %zu has %u bytes: it takes %u", name, i, 8 * have.words, 8 * takes.words);
  }
  if (!d.stacks.hold(threads)) return d.fail("kernel \"%s\": no memory for the stacks of %u threads", name, threads);
  if (d.threads.size() < threads) d.threads.resize(threads);
  d.ready.reserve(threads);
  d.kernel = e;
  return true;
}

static bool run(Device &d, uint32_t blocks, uint32_t threads) {
  std::vector<uint32_t> order(blocks);
  for (uint32_t i = 0; i < blocks; i++) {
    uint64_t j = d.below(i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  // Half of the epochs are left for the launch.
  if (d.epoch >> 31) {
    d.allocations.forget_epochs();
    d.epoch = 0;
  }
  d.first_epoch = d.epoch + 1;
  d.faulted = false;
  d.counters.launches++;
  uint64_t busiest = 0;
  for (uint32_t i = 0; i < blocks && !d.faulted; i++) {
    d.stacks.running() = {0, order[i], threads, blocks, &d};
    Block b(d, order[i], threads);
    b.run();
    if (b.cycles > busiest) busiest = b.cycles;
  }
  d.counters.busiest += busiest;
  d.allocations.start_block();
  return !d.faulted;
}

} // namespace emulated

// seed decides the orders of blocks and threads in all the device's launches.
EMULATED_CALL emulated::Device *emulated_create(uint64_t seed, uint32_t unchecked) try {
  return new emulated::Device(seed, unchecked);
} catch (const std::bad_alloc &) {
  return nullptr;
}

EMULATED_CALL void emulated_destroy(emulated::Device *d) { delete d; }

EMULATED_CALL const char *emulated_error(emulated::Device *d) { return d->error; }

EMULATED_CALL uint64_t emulated_alloc(emulated::Device *d, uint64_t bytes) try {
  uint64_t address = bytes ? d->allocations.allocate(bytes) : 0;
  if (!address) d->fail(bytes ? "alloc: no memory for %llu bytes" : "alloc: %llu bytes", (unsigned long long)bytes);
  return address;
} catch (const std::bad_alloc &) {
  return d->fail("alloc: no memory for %llu bytes", (unsigned long long)bytes);
}

EMULATED_CALL int emulated_free(emulated::Device *d, uint64_t address) {
  uint64_t first;
  emulated::Memory *m = emulated::span(*d, "free", address, 0, 0, &first);
  if (!m) return false;
  if (first != 0) return d->fail("free: offset %llu of an allocation isn't its start", (unsigned long long)first);
  emulated::Allocations::release(*m);
  return true;
}

EMULATED_CALL int emulated_upload(emulated::Device *d, uint64_t address, int64_t offset, const void *from, uint64_t bytes) {
  uint64_t first;
  emulated::Memory *m = emulated::span(*d, "upload", address, offset, bytes, &first);
  if (!m) return false;
  memcpy(m->data + first, from, bytes);
  emulated::mark_written(*m, first, bytes);
  return true;
}

EMULATED_CALL int emulated_download(emulated::Device *d, void *to, uint64_t address, int64_t offset, uint64_t bytes) {
  uint64_t first;
  emulated::Memory *m = emulated::span(*d, "download", address, offset, bytes, &first);
  if (!m) return false;
  if (!(d->unchecked & emulated::Unwritten) && !emulated::all_written(*m, first, bytes))
    return d->fail("download: never written: some of %llu bytes at offset %llu of allocation %llu", (unsigned long long)bytes,
                   (unsigned long long)first,
                   (unsigned long long)(emulated::number_of(address) - emulated::first_allocation + 1));
  memcpy(to, m->data + first, bytes);
  return true;
}

EMULATED_CALL int emulated_clear(emulated::Device *d, uint64_t address, int64_t offset, uint64_t bytes) {
  uint64_t first;
  emulated::Memory *m = emulated::span(*d, "clear", address, offset, bytes, &first);
  if (!m) return false;
  memset(m->data + first, 0, bytes);
  emulated::mark_written(*m, first, bytes);
  return true;
}

// words are the arguments: 8 bytes for a number, which fills the first of them, and a struct's own. letters are their
// types: p for a pointer, i, u, l, L for int32, uint32, int64, uint64, f, d for float32, float64, s for a struct's
// first 8 bytes and a full stop for each further 8.
EMULATED_CALL int emulated_launch(emulated::Device *d, const char *name, uint32_t blocks, uint32_t threads, uint64_t *words,
                                  const char *letters) try {
  return emulated::prepare(*d, name, blocks, threads, words, letters) && emulated::run(*d, blocks, threads);
} catch (const std::bad_alloc &) {
  return d->fail("kernel \"%s\": no memory to launch %u blocks", name, blocks);
}

EMULATED_CALL void emulated_counters(emulated::Device *d, emulated::Counters *to) { *to = d->counters; }

// emulated_twice names two kernels of one name; the empty string if there are none.
EMULATED_CALL const char *emulated_twice() {
  static char text[500];
  for (const emulated::Export *e = emulated::exports; e; e = e->next)
    for (const emulated::Export *f = e->next; f; f = f->next)
      if (strcmp(e->name, f->name) == 0)
        snprintf(text, sizeof text, "kernel \"%s\" is exported twice, by %s:%d and %s:%d", e->name, f->file, f->line, e->file,
                 e->line);
  return text;
}
