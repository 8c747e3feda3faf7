// SPDX-License-Identifier: Apache-2.0
//
// What loads return when a request asks for another memory model than the real one. Accesses of the sites
// that the request names have histories (src/memory); a racing load of one may be given an older value that
// is still legal. Every such value is a choice in the trail, 0 the newest: a replay needs no heuristic, and
// minimising takes away the values that a failure does not need. Values of the future are named by the
// request, one by one. Each is an unvalidated prediction until a concurrent store writes it; an execution
// that ends with one is not legal.
#pragma once

#include "base/prng.h"
#include "catalog/models.h"
#include "memory/future_values.h"
#include "memory/heuristics.h"
#include "memory/stale_model.h"
#include "runtime/control.h"
#include "runtime/runtime.h"

namespace duress {

class Adversary final : memory::ClockSource, memory::Chooser, memory::Picker {
 public:
  Adversary(Runtime& runtime, const trail::Request& request, trail::Record& record);

  /// A load of `size` bytes at a tracked site has put what memory holds into `value`. May replace it.
  void loaded(Thread& t, const void* p, u32 size, const DuressSite* site, void* value);
  /// Before a store: any store, tracked site or not.
  void storing(Thread& t, void* p, u64 size, const DuressSite* site, memory::Source value);
  /// The bytes are freed.
  void forget(uptr begin, uptr end) {
    model_.forget({begin, end});
    if (request_.profile_futures) profile_.forget({begin, end});
  }
  /// The running strand is about to end the process. If predictions are unvalidated, it waits until other
  /// strands have stored their values, or until none of them can run.
  void settle(uptr place);

 private:
  bool predict(const memory::Viewer& who, const memory::DynamicLocation& where, memory::Extent extent,
               const u8* memory, u8* value, const DuressSite* site);
  void note_replaced(u32 key, const DuressSite* site, u32 size, const u8* memory, const u8* value,
                     bool future);
  void note_unvalidated();
  void note_statistics();
  bool named(u32 key) const;
  const VectorClock* next(u32* cursor) override;
  u32 choose(u32 count) override;
  u32 pick(const memory::Legal& legal) override;

  Runtime& runtime_;
  const trail::Request& request_;
  trail::Record& record_;
  HeuristicId heuristic_;
  Prng prng_;
  memory::StaleModel model_;
  memory::LoadCounter counter_;
  memory::FutureProfile profile_;
  memory::Predictions predictions_;
  memory::SpeculativeReads speculative_;
  bool settling_ = false;  // a strand waits in settle()
};

/// Null: loads return what memory holds.
extern Adversary* g_adversary;

}  // namespace duress
