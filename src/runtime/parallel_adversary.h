// SPDX-License-Identifier: Apache-2.0
//
// Stale values while threads run in parallel, as JUMBLE ran its programs: nothing is recorded and nothing can
// be replayed, but the program runs at nearly its own speed. Only the variables that option `track` names
// have histories; accesses to all others are neither checked nor slowed down.
//
// An access to a tracked site and its entry in the history are one step, under one lock: otherwise memory
// could hold a value that the history does not have yet.
#pragma once

#include "base/prng.h"
#include "catalog/models.h"
#include "memory/heuristics.h"
#include "memory/stale_model.h"
#include "runtime/runtime.h"

namespace duress {

class ParallelAdversary final : memory::ClockSource, memory::Chooser {
 public:
  explicit ParallelAdversary(Runtime& runtime);

  /// The request that says which bodies functions run; it names no sites.
  static const trail::Request& request();

  /// Performs a load of a tracked site. False: the site is not tracked.
  bool load(Thread& t, const void* p, u32 size, const DuressSite* site, void* value);
  /// Performs a store, or only updates histories of the bytes. False: the caller has to perform the store.
  bool store(Thread& t, void* p, u64 size, const DuressSite* site, memory::Source value);
  void forget(uptr begin, uptr end);
  /// JUMBLE's figure 10, as statistics of the run.
  void report();

 private:
  const VectorClock* next(u32* cursor) override;
  u32 choose(u32 count) override { return static_cast<u32>(prng_.below(count)); }

  Runtime& runtime_;
  SpinLock lock_;
  HeuristicId heuristic_;
  Prng prng_;
  VectorClock nothing_;  // the clock of a thread that knows nothing
  memory::StaleModel model_;
};

/// Null: loads return what memory holds.
extern ParallelAdversary* g_parallel_adversary;

}  // namespace duress
