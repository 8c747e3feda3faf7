// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/trace.h"

#include "base/prng.h"

namespace duress::testing {

namespace {

class Generator {
 public:
  Generator(u64 seed, const TraceShape& shape) : prng_(seed), shape_(shape), threads_(shape.threads) {}

  Trace run() {
    threads_[0].state = kRunning;
    for (int t = 1; shape_.all_start && t < shape_.threads; ++t) {
      threads_[t].state = kRunning;
      emit({.op = Op::kFork, .thread = 0, .other = t});
    }
    while (static_cast<int>(trace_.size()) < shape_.events) step();
    return std::move(trace_);
  }

 private:
  enum State { kUnborn, kRunning, kDone, kJoined };
  struct Thread {
    State state = kUnborn;
    int lock = -1;       // held mutex
    int read_lock = -1;  // held for reading
  };
  static constexpr int kLocks = 2;

  void emit(Event e) { trace_.push_back(e); }

  void step() {
    int t;
    do t = static_cast<int>(prng_.below(threads_.size()));
    while (threads_[t].state != kRunning);
    Thread& self = threads_[t];
    switch (prng_.below(12)) {
      case 0:
        return fork_or_join(t);
      case 1:
      case 2:
        return mutex(t, self);
      case 3:
        return semaphore(t);
      case 4:
      case 5:
      case 6:
        if (shape_.atomics) return atomic(t);
        [[fallthrough]];
      default:
        return plain(t);
    }
  }

  void fork_or_join(int t) {
    int other = static_cast<int>(prng_.below(threads_.size()));
    Thread& o = threads_[other];
    if (o.state == kUnborn) {
      o.state = kRunning;
      emit({.op = Op::kFork, .thread = t, .other = other});
    } else if (o.state == kRunning && other != t && other != 0 && o.lock < 0 && o.read_lock < 0 &&
               prng_.chance(1, 4)) {
      o.state = kJoined;
      emit({.op = Op::kJoin, .thread = t, .other = other});
    }
  }

  void mutex(int t, Thread& self) {
    if (self.lock >= 0) {
      emit({.op = Op::kUnlock, .thread = t, .object = self.lock});
      writer_[self.lock] = false;
      self.lock = -1;
    } else if (self.read_lock >= 0) {
      emit({.op = Op::kReadUnlock, .thread = t, .object = self.read_lock});
      --readers_[self.read_lock];
      self.read_lock = -1;
    } else {
      int m = static_cast<int>(prng_.below(kLocks));
      if (writer_[m]) return;
      if (prng_.chance(1, 3)) {
        ++readers_[m];
        self.read_lock = m;
        emit({.op = Op::kReadLock, .thread = t, .object = m});
      } else if (readers_[m] == 0) {
        writer_[m] = true;
        self.lock = m;
        emit({.op = Op::kLock, .thread = t, .object = m});
      }
    }
  }

  void semaphore(int t) {
    emit({.op = prng_.chance(1, 2) ? Op::kPost : Op::kWait, .thread = t, .object = 100});
  }

  void atomic(int t) {
    static constexpr MemoryOrder kLoad[] = {MemoryOrder::kRelaxed, MemoryOrder::kConsume,
                                            MemoryOrder::kAcquire, MemoryOrder::kSeqCst};
    static constexpr MemoryOrder kStore[] = {MemoryOrder::kRelaxed, MemoryOrder::kRelease,
                                             MemoryOrder::kSeqCst};
    static constexpr MemoryOrder kAny[] = {MemoryOrder::kRelaxed, MemoryOrder::kAcquire,
                                           MemoryOrder::kRelease, MemoryOrder::kAcqRel, MemoryOrder::kSeqCst};
    // Three atomics that do not overlap each other but do overlap plain accesses.
    static constexpr u32 kAt[] = {0, 4, 8}, kSize[] = {4, 2, 8};
    u64 which = prng_.below(3);
    Event e{.op = Op::kAtomicLoad, .thread = t, .address = kAt[which], .size = kSize[which]};
    switch (prng_.below(5)) {
      case 0:
        e.op = Op::kAtomicLoad;
        e.order = kLoad[prng_.below(4)];
        break;
      case 1:
        e.op = Op::kAtomicStore;
        e.order = kStore[prng_.below(3)];
        break;
      case 2:
      case 3:
        e.op = Op::kAtomicRmw;
        e.order = kAny[prng_.below(5)];
        break;
      default:
        e = {.op = Op::kFence, .thread = t};
        e.order = kAny[1 + prng_.below(4)];
        break;
    }
    emit(e);
  }

  void plain(int t) {
    static constexpr u32 kSizes[] = {1, 2, 4, 8, 16, 3};
    u32 size = shape_.mixed_sizes ? kSizes[prng_.below(6)] : 4;
    u32 address = static_cast<u32>(prng_.below(shape_.plain_bytes));
    if (shape_.ranges) {
      static constexpr u32 kRows[] = {4, 8, 16, 40, 64};
      size = kRows[prng_.below(5)];
      address -= address % (size < 8 ? size : 8);
      emit({.op = prng_.chance(1, shape_.one_write_in) ? Op::kWrite : Op::kRead,
            .thread = t,
            .address = address,
            .size = size});
      return;
    }
    address -= shape_.mixed_sizes && prng_.chance(1, 3) ? 0 : address % size;
    emit({.op = prng_.chance(1, shape_.one_write_in) ? Op::kWrite : Op::kRead,
          .thread = t,
          .address = address,
          .size = size});
  }

  Prng prng_;
  TraceShape shape_;
  std::vector<Thread> threads_;
  bool writer_[kLocks] = {};
  int readers_[kLocks] = {};
  Trace trace_;
};

}  // namespace

Trace random_trace(u64 seed, const TraceShape& shape) {
  return Generator(seed, shape).run();
}

std::string to_string(const Trace& trace) {
  static const char* kNames[] = {"read",  "write",   "aload", "astore", "armw", "fence", "lock",  "unlock",
                                 "rlock", "runlock", "post",  "wait",   "fork", "join",  "begin", "end"};
  std::string text;
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& e = trace[i];
    text += std::to_string(i) + ": T" + std::to_string(e.thread) + " " + kNames[static_cast<int>(e.op)];
    if (is_access(e.op)) text += " [" + std::to_string(e.address) + "+" + std::to_string(e.size) + "]";
    if (is_atomic(e.op) || e.op == Op::kFence) text += " order " + std::to_string(static_cast<int>(e.order));
    if (e.op >= Op::kLock && e.op <= Op::kWait) text += " m" + std::to_string(e.object);
    if (e.op == Op::kFork || e.op == Op::kJoin) text += " T" + std::to_string(e.other);
    text += "\n";
  }
  return text;
}

}  // namespace duress::testing
