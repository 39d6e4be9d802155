// How the threads of a block take turns. Part of emulated_device.h.
#pragma once

namespace emulated {

static uint64_t wait(State state, uint64_t value, unsigned from, const char *file, int line) {
  Device &d = *place().device;
  Thread &t = d.threads[place().thread];
  t.state = state;
  t.value = value;
  t.from = from;
  t.file = file;
  t.line = line;
  Fiber::turn(t.fiber, d.host);
  return t.result;
}

void wait_for_block(const char *file, int line) { wait(AtBarrier, 0, 0, file, line); }

uint64_t wait_for_warp(bool shuffles, uint64_t value, unsigned from, const char *file, int line) {
  return wait(shuffles ? AtShuffle : AtBallot, value, from, file, line);
}

// run_thread is the code of a fiber.
static void run_thread() {
  Device &d = *place().device;
  d.kernel->call(d.kernel->code, d.arguments.data());
  d.threads[place().thread].state = Returned;
  stop(d);
}

static const char *name_of(State s) { return s == AtBarrier ? "barrier" : s == AtBallot ? "lanes_where" : "shuffle"; }

static bool same_place(const Thread &a, const Thread &b) {
  return a.state == b.state && a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0);
}

// Block runs one block of a launch.
class Block {
  Device &d;
  const unsigned number, count;
  unsigned returned = 0;

  unsigned warp_end(unsigned first) const { return first + 32 < count ? first + 32 : count; }

  void release(unsigned t) {
    d.threads[t].state = Ready;
    d.ready.push_back(t);
  }

  // count_cycles adds the time since the last barrier: that of the busiest of a multiprocessor's four schedulers. Each
  // has every fourth warp and issues an instruction a cycle. A warp takes as long as the busiest of its lanes.
  void count_cycles() {
    uint64_t schedulers[4] = {};
    for (unsigned first = 0; first < count; first += 32) {
      uint64_t most = 0;
      for (unsigned t = first; t < warp_end(first); t++) {
        if (d.threads[t].issued > most) most = d.threads[t].issued;
        d.threads[t].issued = 0;
      }
      schedulers[first / 32 % 4] += most;
    }
    uint64_t most = 0;
    for (uint64_t s : schedulers) most = s > most ? s : most;
    cycles += most;
  }

  void differ(const char *what, unsigned a, unsigned b) {
    const Thread &ta = d.threads[a], &tb = d.threads[b];
    if (tb.state == Returned)
      complain(d, number, a, ta.file, ta.line, "%s: thread %u waits at this %s, thread %u has returned", what, a,
               name_of(ta.state), b);
    else
      complain(d, number, a, ta.file, ta.line, "%s: thread %u waits at this %s, thread %u at the %s of %s:%d", what, a,
               name_of(ta.state), b, name_of(tb.state), tb.file, tb.line);
  }

  // settle_warp lets a warp go on if all of its lanes that haven't returned wait for each other.
  void settle_warp(unsigned first) {
    unsigned end = warp_end(first), leader = end;
    uint64_t votes = 0;
    for (unsigned t = first; t < end; t++) {
      const Thread &x = d.threads[t];
      if (x.state == Returned) continue;
      if (x.state != AtBallot && x.state != AtShuffle) return;
      if (leader == end) leader = t;
      votes |= uint64_t(x.value != 0) << (t - first);
    }
    if (leader == end) return;
    for (unsigned t = leader; t < end; t++) {
      Thread &x = d.threads[t];
      if (x.state == Returned) continue;
      if (!same_place(d.threads[leader], x)) return differ("divergent warp", leader, t);
      x.result = votes;
      if (x.state == AtBallot) continue;
      if (x.from >= end - first || d.threads[first + x.from].state == Returned)
        return complain(d, number, t, x.file, x.line, "shuffle from lane %u, which %s", x.from,
                        x.from >= end - first ? "there isn't" : "has returned");
      x.result = d.threads[first + x.from].value;
    }
    for (unsigned t = leader; t < end; t++)
      if (d.threads[t].state != Returned) release(t);
  }

  // settle_block lets the block go on when no thread is ready: either all wait at one barrier, or they wait in vain,
  // which is a fault.
  void settle_block() {
    for (unsigned first = 0; first < count; first += 32) {
      for (unsigned t = first; t < warp_end(first); t++) {
        if (d.threads[t].state != AtBallot && d.threads[t].state != AtShuffle) continue;
        for (unsigned u = first; u < warp_end(first); u++)
          if (d.threads[u].state == AtBarrier) return differ("divergent warp", t, u);
      }
    }
    unsigned leader = 0;
    while (d.threads[leader].state == Returned) leader++;
    for (unsigned t = 0; t < count; t++)
      if (!same_place(d.threads[leader], d.threads[t])) return differ("divergent barrier", leader, t);
    for (unsigned t = 0; t < count; t++) release(t);
    count_cycles();
    d.epoch++;
    d.counters.barriers++;
  }

  void turn(unsigned t) {
    d.stacks.running().thread = t;
    Fiber::turn(d.host, d.threads[t].fiber);
    if (d.faulted) return;
    State s = d.threads[t].state;
    returned += s == Returned;
    if (s != AtBarrier) settle_warp(t / 32 * 32);
  }

public:
  Block(Device &d, unsigned number, unsigned count) : d(d), number(number), count(count) {}

  void run() {
    d.allocations.start_block();
    d.epoch++;
    d.ready.clear();
    for (unsigned t = 0; t < count; t++) {
      d.threads[t].fiber.start(d.stacks.top(t), run_thread);
      d.threads[t].issued = 0;
      release(t);
    }
    while (!d.faulted && returned < count) {
      if (d.ready.empty()) {
        settle_block();
        continue;
      }
      size_t i = d.below(d.ready.size());
      unsigned t = d.ready[i];
      d.ready[i] = d.ready.back();
      d.ready.pop_back();
      turn(t);
    }
    count_cycles();
    d.counters.cycles += cycles;
  }

  uint64_t cycles = 0;
};

} // namespace emulated
