// SPDX-License-Identifier: Apache-2.0
//
// Tiny programs as lists of operations, a machine that runs them one step at a time, and the reference for
// the explorer: every interleaving by brute force, counted by happens-before. Independent of the explorer.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/prng.h"
#include "exhaustive/step.h"

namespace duress::exhaustive::testing {

enum class Op {
  kLoad,         // a: variable
  kStore,        // a: variable, b: value
  kAdd,          // a: variable, b: value
  kCas,          // a: variable, b: expected, c: desired
  kLock,         // a: mutex
  kUnlock,       // a: mutex
  kTry,          // a: mutex; if it is held, skips b instructions
  kAcquire,      // a: semaphore
  kTryAcquire,   // a: semaphore; if it is 0, skips b instructions
  kPost,         // a: semaphore
  kWait,         // a: condition, b: mutex, which is held
  kSignal,       // a: condition
  kBroadcast,    // a: condition
  kSkipIf,       // if what was read last is a, skips b instructions; no step
  kAwait,        // a: variable, b: value: reads until it is that
  kAwaitEither,  // a: variable, b: value; or variable c is not 0: reads both in turn
  kCreate,       // a: thread; no step
  kJoin,         // a: thread; no step
  kArrive,       // a: barrier of b
  kTimedWait,    // as kWait, but may end by itself. What was read last is then 2, else 0; 1: it was spurious
};

struct Instruction {
  Op op;
  int a = 0, b = 0, c = 0;
};

struct Program {
  std::vector<std::vector<Instruction>> threads;
  std::vector<bool> started;  // those that run from the beginning
  std::vector<u64> semaphores;
  int spurious = 0, timeouts = 0;  // how many times in a row a wait may end so
};

inline u64 variable(int i) {
  return 0x1000 + u64(i) * 8;
}
inline u64 mutex(int i) {
  return 0x2000 + u64(i) * 64;
}
inline u64 semaphore(int i) {
  return 0x3000 + u64(i) * 64;
}
inline u64 condition(int i) {
  return 0x4000 + u64(i) * 64;
}
inline u64 barrier(int i) {
  return 0x5000 + u64(i) * 64;
}

/// A state of a program. Copies are cheap enough for brute force.
class Machine {
 public:
  explicit Machine(const Program& program) : program_(&program), threads_(program.threads.size()) {
    for (size_t i = 0; i < threads_.size(); ++i) threads_[i].started = program.started[i];
    for (size_t i = 0; i < program.semaphores.size(); ++i) memory_[semaphore(int(i))] = program.semaphores[i];
    settle();
  }

  /// The threads that can do a step.
  std::vector<u32> enabled_threads() const {
    std::vector<u32> result;
    for (u32 t = 0; t < threads_.size(); ++t) {
      if (at_step(t) && can_go(t)) result.push_back(t);
    }
    return result;
  }
  /// Whom thread t's next step could wake, a bit each.
  u64 choices(u32 t) const {
    const Instruction& i = next(t);
    if (chooses(t)) return ends(t);
    return i.op == Op::kSignal ? state(condition(i.a)) : 0;
  }
  /// False: it ended with somebody waiting who chose not to time out. In time it would.
  bool counts() const {
    for (const Thread& h : threads_) {
      if (h.waiting && h.could_time_out) return false;
    }
    return true;
  }
  bool at_step(u32 t) const {
    const Thread& h = threads_[t];
    return h.started && !h.waiting && h.pc < program_->threads[t].size() && next(t).op != Op::kJoin;
  }
  /// One step; then everything that is no step.
  void run(u32 t, u32 value) {
    Step step = describe(t);
    if (step.kind == OpKind::kSignal || step.kind == OpKind::kChoose) step.value = static_cast<u8>(value);
    steps_.push_back(step);
    perform(t, step);
    settle();
  }
  const std::vector<Step>& steps() const { return steps_; }
  /// The steps, and then those that could not be done.
  std::vector<Step> history() const {
    std::vector<Step> all = steps_;
    for (u32 t = 0; t < threads_.size(); ++t) {
      if (!at_step(t)) continue;
      Step step = describe(t);
      step.flags |= Step::kPending;
      all.push_back(step);
    }
    return all;
  }

 private:
  struct Thread {
    bool started = false;
    bool waiting = false;  // on a condition or a barrier, until it is woken
    bool relocks = false;  // was woken: takes the mutex again
    bool again = false;    // an await that has looked before
    bool second = false;   // kAwaitEither: looks at the second variable
    size_t pc = 0;
    u64 read = 0;
    std::map<u64, u64> seen;  // versions of what an await has looked at
    bool chosen = false;      // how the wait ends
    bool could_time_out = false;
    WaitEnd end = WaitEnd::kWoken;
    std::map<size_t, int> in_a_row[3];  // by the wait's place: ends of that kind
  };

  const Instruction& next(u32 t) const { return program_->threads[t][threads_[t].pc]; }
  u64 state(u64 object) const {
    auto it = memory_.find(object);
    return it == memory_.end() ? 0 : it->second;
  }
  u64 version(u64 object) const {
    auto it = versions_.find(object);
    return it == versions_.end() ? 0 : it->second;
  }

  static bool waits(const Instruction& i) { return i.op == Op::kWait || i.op == Op::kTimedWait; }
  u64 ends(u32 t) const {
    const Thread& h = threads_[t];
    auto less = [&](WaitEnd end, int most) {
      auto it = h.in_a_row[int(end)].find(h.pc);
      return (it == h.in_a_row[int(end)].end() ? 0 : it->second) < most;
    };
    u64 all = 1;
    if (less(WaitEnd::kSpurious, program_->spurious)) all |= 2;
    if (next(t).op == Op::kTimedWait && less(WaitEnd::kTimeout, program_->timeouts)) all |= 4;
    return all;
  }
  bool chooses(u32 t) const {
    const Thread& h = threads_[t];
    return waits(next(t)) && !h.relocks && !h.chosen && (ends(t) & (ends(t) - 1));
  }

  bool can_go(u32 t) const {
    const Thread& h = threads_[t];
    const Instruction& i = next(t);
    if (h.relocks) return state(mutex(i.b)) == 0;
    switch (i.op) {
      case Op::kLock:
        return state(mutex(i.a)) == 0;
      case Op::kAcquire:
        return state(semaphore(i.a)) != 0;
      case Op::kAwait:
      case Op::kAwaitEither:
        if (!h.again) return true;
        for (auto [object, v] : h.seen) {
          if (version(object) != v) return true;
        }
        return false;
      default:
        return true;
    }
  }

  Step describe(u32 t) const {
    const Thread& h = threads_[t];
    const Instruction& i = next(t);
    Step s;
    s.strand = static_cast<u8>(t);
    auto touch = [&](u64 object, u32 size = 1) { s.add(object, size, Mode::kWrite, state(object)); };
    if (h.relocks) {
      s.kind = OpKind::kLock;
      touch(mutex(i.b));
      return s;
    }
    if (chooses(t)) {
      s.kind = OpKind::kChoose;
      s.choices = ends(t);
      return s;
    }
    switch (i.op) {
      case Op::kLoad:
        s.kind = OpKind::kAtomicRead;
        touch(variable(i.a), 8);
        break;
      case Op::kStore:
        s.kind = OpKind::kAtomicWrite;
        touch(variable(i.a), 8);
        break;
      case Op::kAdd:
        s.kind = OpKind::kAtomicRmw;
        touch(variable(i.a), 8);
        break;
      case Op::kCas:
        s.kind = OpKind::kAtomicRmw;
        s.flags |= Step::kCompares;
        s.expected = u64(i.b);
        touch(variable(i.a), 8);
        break;
      case Op::kLock:
        s.kind = OpKind::kLock;
        touch(mutex(i.a));
        break;
      case Op::kUnlock:
        s.kind = OpKind::kUnlock;
        touch(mutex(i.a));
        break;
      case Op::kTry:
        s.kind = OpKind::kTryLock;
        touch(mutex(i.a));
        break;
      case Op::kAcquire:
        s.kind = OpKind::kAcquire;
        touch(semaphore(i.a));
        break;
      case Op::kTryAcquire:
        s.kind = OpKind::kTryAcquire;
        touch(semaphore(i.a));
        break;
      case Op::kPost:
        s.kind = OpKind::kPost;
        touch(semaphore(i.a));
        break;
      case Op::kWait:
      case Op::kTimedWait:
        s.kind = OpKind::kWait;
        touch(condition(i.a), h.end == WaitEnd::kWoken ? 1 : 0);
        touch(mutex(i.b));
        break;
      case Op::kSignal:
        s.kind = OpKind::kSignal;
        touch(condition(i.a));
        s.choices = state(condition(i.a));
        break;
      case Op::kBroadcast:
        s.kind = OpKind::kBroadcast;
        touch(condition(i.a));
        break;
      case Op::kArrive:
        s.kind = OpKind::kBarrier;
        touch(barrier(i.a));
        break;
      case Op::kAwait:
        s.kind = OpKind::kAtomicRead;
        touch(variable(i.a), 8);
        if (h.again) {
          s.flags |= Step::kAwaits;
          s.other = 1;
        }
        break;
      case Op::kAwaitEither:
        s.kind = OpKind::kAtomicRead;
        touch(variable(h.second ? i.c : i.a), 8);
        if (h.again) {
          s.flags |= Step::kAwaits;
          s.other = 2;
          s.add(variable(i.c), 8, Mode::kRead, state(variable(i.c)));
        }
        break;
      default:
        break;
    }
    if (s.kind != OpKind::kWait) s.touch[0].mode = mode_of(s, s.touch[0]);
    return s;
  }

  void set(u64 object, u64 value) {
    memory_[object] = value;
    ++versions_[object];
  }
  void wake(u32 waker, u32 t) {
    Step after;
    after.flags = Step::kAfter;
    after.strand = static_cast<u8>(t);
    after.other = static_cast<u8>(waker);
    steps_.push_back(after);
    threads_[t].waiting = false;
  }

  void perform(u32 t, const Step& s) {
    Thread& h = threads_[t];
    const Instruction& i = next(t);
    u64 v = s.touch[0].before;
    if (h.relocks) {
      set(mutex(i.b), kWriter);
      h.relocks = h.chosen = h.could_time_out = false;
      h.read = u64(h.end);
      if (h.end == WaitEnd::kWoken) {
        for (auto& count : h.in_a_row) count.erase(h.pc);
      } else {
        ++h.in_a_row[int(h.end)][h.pc];
      }
      h.end = WaitEnd::kWoken;
      ++h.pc;
      return;
    }
    if (s.kind == OpKind::kChoose) {
      h.chosen = true;
      h.end = WaitEnd(s.value - 1);
      h.could_time_out = s.choices & 4;
      return;
    }
    size_t skip = 1;
    switch (i.op) {
      case Op::kLoad:
        h.read = v;
        break;
      case Op::kStore:
        set(variable(i.a), u64(i.b));
        break;
      case Op::kAdd:
        h.read = v;
        set(variable(i.a), v + u64(i.b));
        break;
      case Op::kCas:
        h.read = v;
        if (v == u64(i.b)) set(variable(i.a), u64(i.c));
        break;
      case Op::kLock:
        set(mutex(i.a), kWriter);
        break;
      case Op::kUnlock:
        set(mutex(i.a), 0);
        break;
      case Op::kTry:
        if (v == 0)
          set(mutex(i.a), kWriter);
        else
          skip += size_t(i.b);
        break;
      case Op::kAcquire:
        set(semaphore(i.a), v - 1);
        break;
      case Op::kTryAcquire:
        if (v)
          set(semaphore(i.a), v - 1);
        else
          skip += size_t(i.b);
        break;
      case Op::kPost:
        set(semaphore(i.a), v + 1);
        break;
      case Op::kWait:
      case Op::kTimedWait:
        set(mutex(i.b), 0);
        h.relocks = true;
        h.waiting = h.end == WaitEnd::kWoken;
        if (h.waiting) set(condition(i.a), v | u64{1} << t);
        skip = 0;
        break;
      case Op::kSignal:
        if (s.value) {
          set(condition(i.a), v & ~(u64{1} << (s.value - 1)));
          wake(t, s.value - 1u);
        }
        break;
      case Op::kBroadcast:
        if (v) set(condition(i.a), 0);
        for (u32 w = 0; w < threads_.size(); ++w) {
          if (v >> w & 1) wake(t, w);
        }
        break;
      case Op::kArrive:
        if (v + 1 == u64(i.b)) {
          set(barrier(i.a), 0);
          for (u32 w = 0; w < threads_.size(); ++w) {
            if (threads_[w].waiting && threads_[w].pc > 0 &&
                program_->threads[w][threads_[w].pc - 1].op == Op::kArrive)
              wake(t, w);
          }
        } else {
          set(barrier(i.a), v + 1);
          h.waiting = true;
        }
        break;
      case Op::kAwait:
        h.seen[variable(i.a)] = version(variable(i.a));
        h.again = v != u64(i.b);
        skip = h.again ? 0 : 1;
        break;
      case Op::kAwaitEither:
        if (!h.second) {
          h.seen[variable(i.a)] = version(variable(i.a));
          h.again = false;
          h.second = v != u64(i.b);
          skip = h.second ? 0 : 1;
        } else {
          h.seen[variable(i.c)] = version(variable(i.c));
          h.second = false;
          skip = v ? 1 : 0;
          h.again = !v;
        }
        break;
      default:
        break;
    }
    if (skip && (i.op == Op::kAwait || i.op == Op::kAwaitEither)) {
      h.seen.clear();
      h.again = h.second = false;
    }
    h.pc += skip;
  }

  bool ended(u32 t) const {
    const Thread& h = threads_[t];
    return h.started && !h.waiting && h.pc >= program_->threads[t].size();
  }
  void after(u32 t, u32 other) {
    Step s;
    s.flags = Step::kAfter;
    s.strand = static_cast<u8>(t);
    s.other = static_cast<u8>(other);
    steps_.push_back(s);
  }
  void settle() {
    for (bool moved = true; moved;) {
      moved = false;
      for (u32 t = 0; t < threads_.size(); ++t) {
        Thread& h = threads_[t];
        if (!h.started || h.waiting || h.pc >= program_->threads[t].size() || h.relocks) continue;
        const Instruction& i = next(t);
        if (i.op == Op::kSkipIf) {
          h.pc += h.read == u64(i.a) ? 1 + size_t(i.b) : 1;  // b may be negative
        } else if (i.op == Op::kCreate) {
          threads_[size_t(i.a)].started = true;
          after(u32(i.a), t);
          ++h.pc;
        } else if (i.op == Op::kJoin && ended(u32(i.a))) {
          after(t, u32(i.a));
          ++h.pc;
        } else {
          continue;
        }
        moved = true;
      }
    }
  }

  const Program* program_;
  std::vector<Thread> threads_;
  std::map<u64, u64> memory_, versions_;
  std::vector<Step> steps_;
};

/// The class of an execution as text: for each step of each thread, what it did and all that came before it.
inline std::string class_of(const std::vector<Step>& history, size_t threads) {
  std::vector<std::vector<int>> clocks;  // of entries
  std::vector<const Step*> entries;
  std::vector<std::string> text(threads);
  std::vector<int> last(threads, -1), count(threads, 0);
  for (const Step& s : history) {
    if (s.is(Step::kPending)) continue;
    std::vector<int> clock(threads, 0);
    auto join = [&](int e) {
      if (e < 0) return;
      for (size_t k = 0; k < threads; ++k) clock[k] = std::max(clock[k], clocks[size_t(e)][k]);
    };
    join(last[s.strand]);
    if (s.is(Step::kAfter)) {
      join(last[s.other]);
    } else {
      for (size_t e = 0; e < entries.size(); ++e) {
        if (!entries[e]->is(Step::kAfter) && conflict(*entries[e], s)) join(int(e));
      }
      clock[s.strand] = ++count[s.strand];
      std::string line = std::to_string(int(s.kind)) + "/" + std::to_string(s.value) + "/";
      for (u32 i = 0; i < s.touches; ++i) {
        if (!s.touch[i].size) continue;
        line += std::to_string(s.touch[i].object) + (s.touch[i].mode == Mode::kRead ? "r" : "w");
      }
      for (int k : clock) line += " " + std::to_string(k);
      text[s.strand] += line + "\n";
    }
    last[s.strand] = int(entries.size());
    entries.push_back(&s);
    clocks.push_back(clock);
  }
  std::string all;
  for (const std::string& t : text) all += t + "--\n";
  return all;
}

/// Every interleaving. Gives up (returns false) after that many.
inline bool brute_force(const Machine& machine, size_t threads, std::set<std::string>& classes, u64& budget) {
  std::vector<u32> ready = machine.enabled_threads();
  if (ready.empty()) {
    if (machine.counts()) classes.insert(class_of(machine.history(), threads));
    return budget-- > 0;
  }
  for (u32 t : ready) {
    u64 choices = machine.choices(t);
    do {
      Machine copy = machine;
      copy.run(t, choices ? 1 + u32(__builtin_ctzll(choices)) : 0);
      if (!brute_force(copy, threads, classes, budget)) return false;
      choices &= choices - 1;
    } while (choices);
  }
  return true;
}

}  // namespace duress::exhaustive::testing
