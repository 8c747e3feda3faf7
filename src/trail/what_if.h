// SPDX-License-Identifier: Apache-2.0
//
// What-if edits: changes to the program that a systematic execution pretends were made, so that `duress
// verify` can test a fix before it proposes it. The host lists them in a request; the target's hooks carry
// them out (runtime/what_if.cc).
#pragma once

#include "base/memory_order.h"
#include "base/types.h"

namespace duress::trail {

enum class AtomicKind : u32 { kLoad, kStore, kUpdate, kCompare, kFence };

/// Members that the comment of a kind does not mention are 0. Made by the functions below.
struct WhatIfEdit {
  enum class Kind : u32 {
    kAtomic,          // the plain access `site` is atomic and has `order`
    kLocked,          // the mutex at address `mutex` is held at the access `site`
    kPublishedAfter,  // the atomic store whose call returns to `call` comes right after the access `site`. If
                      // `call` is 0, nothing is moved, and Record::publishing_store names the candidate.
    kReordered,       // the atomic `operation` called from `call` has `order`; a compare-and-exchange that
                      // fails has `failure_order`
    kJoined,  // the strand of path `joiner` joins the one of path `joined` before the access `site`, if
              // that one exists. Its real join becomes a side event.
  };
  Kind kind = Kind::kAtomic;
  u32 site = 0;  // key
  AtomicKind operation = AtomicKind::kLoad;
  MemoryOrder order = MemoryOrder::kRelaxed;
  MemoryOrder failure_order = MemoryOrder::kRelaxed;
  u16 unused = 0;
  u64 mutex = 0;
  u64 call = 0;                // a return address
  u64 joined = 0, joiner = 0;  // paths: strand_path.h

  bool operator==(const WhatIfEdit&) const = default;

  static constexpr WhatIfEdit atomic(u32 site, MemoryOrder order) {
    return {.kind = Kind::kAtomic, .site = site, .order = order};
  }
  static constexpr WhatIfEdit locked(u32 site, u64 mutex) {
    return {.kind = Kind::kLocked, .site = site, .mutex = mutex};
  }
  static constexpr WhatIfEdit published_after(u32 site, u64 call) {
    return {.kind = Kind::kPublishedAfter, .site = site, .call = call};
  }
  static constexpr WhatIfEdit reordered(AtomicKind operation, u64 call, MemoryOrder order,
                                        MemoryOrder failure_order) {
    return {.kind = Kind::kReordered,
            .operation = operation,
            .order = order,
            .failure_order = failure_order,
            .call = call};
  }
  static constexpr WhatIfEdit joins(u32 site, u64 joined, u64 joiner) {
    return {.kind = Kind::kJoined, .site = site, .joined = joined, .joiner = joiner};
  }
};
static_assert(sizeof(WhatIfEdit) == 48);

}  // namespace duress::trail
