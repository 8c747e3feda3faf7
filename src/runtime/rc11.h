// SPDX-License-Identifier: Apache-2.0
//
// What atomic operations do when a request asks for the model rc11: which store a load reads, and where a
// store comes in modification order. Each is a choice in the trail, 0 the newest: a replay needs no
// heuristic, and minimising takes away what a failure does not need. Memory holds the newest in modification
// order, so code that does not ask here sees that.
#pragma once

#include "base/prng.h"
#include "memory/heuristics.h"
#include "memory/rc11_model.h"
#include "runtime/runtime.h"
#include "trail/execution.h"

namespace duress {

class Rc11Adversary final : memory::ClockSource, memory::Chooser, memory::Rc11Picker {
 public:
  Rc11Adversary(Runtime& runtime, const trail::Request& request, trail::Record& record);

  // REQUIRES: the running strand, inside the runtime. `memory` is what memory holds.
  /// What a load returns.
  u128 load(Thread& t, SyncObject& object, const DuressSite* site, MemoryOrder order, u128 memory);
  /// Whether memory is to hold what was stored.
  bool store(Thread& t, SyncObject& object, const DuressSite* site, MemoryOrder order, u128 memory,
             u128 value);
  memory::Rc11Model::Updated update(Thread& t, SyncObject& object, const DuressSite* site,
                                    MemoryOrder success, MemoryOrder failure, u128 memory,
                                    memory::Update& update);
  void fence(Thread& t, MemoryOrder order) { model_.fence(t.clock, order); }
  /// The kernel compares a futex with what memory holds, or looks for who waits: a full barrier either way.
  void futex(Thread& t, const void* waits_on);

  /// Accesses that have no place in the model; see Rc11Model.
  void drop(uptr begin, uptr end);
  void forget(uptr begin, uptr end) { model_.forget({begin, end}); }

 private:
  const VectorClock* next(u32* cursor) override;
  u32 choose(u32 count) override { return static_cast<u32>(prng_.below(count)); }
  u32 read(const memory::Legal& legal) override;
  u32 place(u32 places, u32 forward) override;

  memory::Rc11Model::Object object_of(SyncObject& object, const DuressSite* site) {
    return {object.address, object.size, runtime_.modules.site_id(site), object.released};
  }
  bool trusts(const DuressSite* site);
  void begin(Thread& t, const DuressSite* site);
  void tell_step(bool wrote);
  void tell_limits();
  void note(const SyncObject& object, const DuressSite* site, const memory::Rc11Model::Read& read,
            u128 memory);
  void log_stale(const SyncObject& object, const DuressSite* site, const trail::Replaced& replaced);
  bool interested() { return heuristic_ != HeuristicId::kSequentiallyConsistent && prng_.chance(1, rarity_); }

  Runtime& runtime_;
  trail::Record& record_;
  HeuristicId heuristic_;
  Prng prng_;
  Thread* next_ = nullptr;  // see next()
  u32 rarity_;              // one choice in this many is left to the heuristic
  bool reverses_;           // also choices that another schedule would do as well
  bool newest_ = false;     // this operation sees and makes only the newest
  // While there was one thread: no behaviour was lost.
  u64 dropped_harmlessly_ = 0, settled_harmlessly_ = 0;
  bool explores_;  // the request says what is chosen: see exhaustive/graph_explorer.h
  struct Trusted {
    const DuressSite* site;
    bool trusted;
  };
  Trusted trusted_[256] = {};  // asked for last
  memory::Rc11Model model_;
};

/// Null: atomics are sequentially consistent.
extern Rc11Adversary* g_rc11;

}  // namespace duress
