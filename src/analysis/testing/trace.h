// SPDX-License-Identifier: Apache-2.0
//
// Traces for tests: a list of events in the order they happened, and a generator of random ones that
// are well formed (locks are free when taken, threads exist when they act). Detectors are tested on
// these, with no compiler and no threads.
#pragma once

#include <string>
#include <vector>

#include "clock/thread_clock.h"

namespace duress::testing {

enum class Op {
  kRead,
  kWrite,  // address, size
  kAtomicLoad,
  kAtomicStore,
  kAtomicRmw,  // address, size, order
  kFence,      // order
  kLock,
  kUnlock,
  kReadLock,
  kReadUnlock,  // object
  kPost,
  kWait,  // object: a semaphore; a wait sees all earlier posts
  kFork,
  kJoin,  // other
  kBlockBegin,
  kBlockEnd,  // of a block that is meant to be atomic; random traces have none
};

struct Event {
  Op op;
  int thread;
  u32 address = 0;  // offset in a small arena
  u32 size = 0;
  MemoryOrder order = MemoryOrder::kRelaxed;
  int object = 0;
  int other = 0;
};

using Trace = std::vector<Event>;

struct TraceShape {
  int threads = 4;
  int events = 40;
  u32 plain_bytes = 24;  // plain accesses fall in [0, plain_bytes)
  bool atomics = true;   // atomics fall in the first 16 bytes, so they overlap plain ones
  bool mixed_sizes = true;
  bool ranges = false;     // whole words and rows of them
  bool all_start = false;  // the first thread starts all others before anything else
  u32 one_write_in = 3;    // plain accesses
};

Trace random_trace(u64 seed, const TraceShape& shape);
std::string to_string(const Trace& trace);

inline bool is_access(Op op) {
  return op <= Op::kAtomicRmw;
}
inline bool is_atomic(Op op) {
  return op >= Op::kAtomicLoad && op <= Op::kAtomicRmw;
}
inline bool writes(Op op) {
  return op == Op::kWrite || op == Op::kAtomicStore || op == Op::kAtomicRmw;
}
inline bool reads_atomic(Op op) {
  return op == Op::kAtomicLoad || op == Op::kAtomicRmw;
}

}  // namespace duress::testing
