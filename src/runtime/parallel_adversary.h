// SPDX-License-Identifier: Apache-2.0
//
// Stale values while threads run in parallel, as JUMBLE ran its programs: nothing is recorded and nothing can
// be replayed, but the program runs at nearly its own speed. Only the variables that option `track` names
// have histories; accesses to all others are neither checked nor slowed down.
//
// An access to a tracked site and its entry in the history are one step, under one lock: otherwise memory
// could hold a value that the history does not have yet. A load that was made before, with nothing changed
// since, needs no lock (RememberedLoads).
#pragma once

#include "base/prng.h"
#include "catalog/models.h"
#include "memory/heuristics.h"
#include "memory/remembered_loads.h"
#include "memory/stale_model.h"
#include "runtime/runtime.h"

namespace duress {

class ParallelAdversary final : memory::ClockSource, memory::Chooser {
 public:
  explicit ParallelAdversary(Runtime& runtime);

  /// The request that says which bodies functions run; it names no sites.
  static const trail::Request& request();

  /// Performs a load that the thread has made before, if nothing has changed since. REQUIRES: a tracked site.
  template <typename T>
  bool load_again(Thread& t, const void* p, T* value) {
    static_assert(sizeof(T) <= 8);
    if (!t.loads) return false;
    memory::RememberedLoads::Load load = {reinterpret_cast<uptr>(p), sizeof(T)};
    u64 stamp = stamps_.of(load.address);
    T held = *static_cast<const volatile T*>(p);
    u64 found;
    if (!t.loads->again(load, {stamp, t.clock.acquired(), held}, &found)) return false;
    *value = static_cast<T>(found);
    return true;
  }
  /// Performs a load of a tracked site. False: the site is not tracked.
  bool load(Thread& t, const void* p, u32 size, const DuressSite* site, void* value);
  /// Performs a store, or only updates histories of the bytes. False: the caller has to perform the store.
  bool store(Thread& t, void* p, u64 size, const DuressSite* site, memory::Source value);
  void forget(uptr begin, uptr end);
  /// Others may use what belonged to the thread.
  void thread_ended(Thread& t);
  /// JUMBLE's figure 10, as statistics of the run.
  void report();

 private:
  const VectorClock* next(u32* cursor) override;
  u32 choose(u32 count) override { return static_cast<u32>(prng_.below(count)); }
  memory::RememberedLoads* loads_of_new_thread();

  Runtime& runtime_;
  SpinLock lock_;
  HeuristicId heuristic_;
  Prng prng_;
  memory::StaleModel model_;
  memory::ChangeStamps stamps_;
  memory::RememberedLoads *all_loads_ = nullptr, *free_loads_ = nullptr;  // under lock_
};

/// Null: loads return what memory holds.
extern ParallelAdversary* g_parallel_adversary;

}  // namespace duress
