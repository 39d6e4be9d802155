// Fibers: stacks among which one thread of the operating system switches. Part of emulated_device.h.
#pragma once

#include <stdint.h>
#include <sys/mman.h>

#include "emulated_memory.h"

#if defined(__x86_64__) && !defined(EMULATED_UCONTEXT)
#define EMULATED_SWITCH 1
#else
#include <ucontext.h>
#endif

namespace emulated {

// The size of a thread's stack. Pages that it doesn't reach cost nothing.
constexpr size_t stack_bytes = 256 * 1024;

#ifdef EMULATED_SWITCH

// ucontext asks the kernel for the signal mask at every switch, which takes fifty times as long as all the rest.
extern "C" void emulated_switch(void **from, void *to) __asm__("emulated_switch");
__asm__(R"(
  .text
  .p2align 4
emulated_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");

class Fiber {
  void *top = nullptr;

public:
  // start makes the next turn begin with code, which never returns.
  void start(char *stack_top, void (*code)()) {
    // The calling convention wants 8 bytes less than a multiple of 16 when code begins.
    void **frame = reinterpret_cast<void **>(stack_top) - 8;
    for (int i = 0; i < 6; i++) frame[i] = nullptr;
    frame[6] = reinterpret_cast<void *>(code);
    frame[7] = nullptr;
    top = frame;
  }
  static void turn(Fiber &from, Fiber &to) { emulated_switch(&from.top, to.top); }
};

#else

class Fiber {
  ucontext_t context;

public:
  void start(char *stack_top, void (*code)()) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack_top - stack_bytes;
    context.uc_stack.ss_size = stack_bytes;
    context.uc_link = nullptr;
    makecontext(&context, code, 0);
  }
  static void turn(Fiber &from, Fiber &to) { swapcontext(&from.context, &to.context); }
};

#endif

// Stacks is one mapping: the place of the running thread, and stacks, each above a guard.
class Stacks {
  static constexpr size_t guard = 16 * 1024; // a multiple of every page size that is in use
  static constexpr size_t step = guard + stack_bytes + 16 * 1024; // with room for tops to differ
  static_assert(guard + max_threads * step <= stacks_bytes, "all stacks have one place");
  char *memory = nullptr; // a multiple of stacks_bytes
  size_t count = 0;

  void drop() {
    if (memory) munmap(memory, guard + count * step);
    memory = nullptr;
    count = 0;
  }

public:
  Stacks() = default;
  Stacks(const Stacks &) = delete;
  ~Stacks() { drop(); }

  // hold makes at least n stacks, whose contents are undefined.
  bool hold(size_t n) {
    if (n <= count) return true;
    drop();
    int flags = MAP_PRIVATE | MAP_ANON;
#ifdef MAP_NORESERVE
    flags |= MAP_NORESERVE;
#endif
    void *p = mmap(nullptr, 2 * stacks_bytes, PROT_NONE, flags, -1, 0);
    if (p == MAP_FAILED) return false;
    size_t before = -reinterpret_cast<uintptr_t>(p) % stacks_bytes, used = guard + n * step;
    memory = static_cast<char *>(p) + before;
    count = n;
    if (before) munmap(p, before);
    munmap(memory + used, 2 * stacks_bytes - before - used);
    bool failed = mprotect(memory, used, PROT_READ | PROT_WRITE);
    for (size_t i = 0; i < n; i++)
      if (failed || mprotect(memory + guard + i * step, guard, PROT_NONE)) {
        drop();
        return false;
      }
    return true;
  }

  // top returns the address that stack i grows downwards from. Tops at the same offset in every page would share few
  // lines of the processor's caches.
  char *top(size_t i) { return memory + guard + (i + 1) * step - i % 64 * 192; }

  Place &running() { return place_within(reinterpret_cast<uintptr_t>(memory)); }
};

} // namespace emulated
