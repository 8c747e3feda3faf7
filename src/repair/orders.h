// SPDX-License-Identifier: Apache-2.0
//
// The atomic operations of a program by source location, and what-if edits (trail/what_if.h) that give them
// other memory orders.
#pragma once

#include "verify/verifier.h"

namespace duress::repair {

// As the compiler numbers them.
inline constexpr u32 kRelaxed = 0, kAcquire = 2, kRelease = 3, kAcqRel = 4, kSeqCst = 5;

const char* order_text(u32 order);
const char* kind_text(trail::AtomicKind kind);

/// One operation of the source; the compiler may have made several of it.
struct AtomicOperation {
  verify::AtomicUse first;
  std::vector<verify::AtomicUse> all;
};

/// By place in the source.
std::vector<AtomicOperation> by_place(const std::vector<verify::AtomicUse>& uses);

/// The part of an order that a load can have: the failing side of a compare-and-exchange.
u32 load_order(u32 order);

/// Adds the edits with which the operation has this order; if it is a compare-and-exchange, it has
/// the order `failing` where it fails.
void add_order(const AtomicOperation& operation, u32 order, u32 failing,
               std::vector<trail::WhatIfEdit>& edits);

}  // namespace duress::repair
