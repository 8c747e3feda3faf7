// SPDX-License-Identifier: Apache-2.0
//
// The pairs of sites that racefuzzer is after, for one look-up per question whatever their number.
#pragma once

#include "base/prng.h"
#include "trail/execution.h"

namespace duress::sched {

/// An open hash table of pairs without order, and of the sites in them (as pairs with site 0, which names
/// none). Fixed size: must not allocate.
class SitePairSet {
 public:
  static constexpr u32 kMostPairs = 4096;

  /// Beyond kMostPairs, the rest is left out: a campaign that is after more splits them over its executions.
  void fill(const trail::SitePair* pairs, u32 count) {
    if (count > kMostPairs) count = kMostPairs;
    // Three keys a pair: the table is never more than three quarters full. Only the part in use is cleared,
    // so that a forked child with few pairs touches few pages.
    u32 slots = 4;
    while (slots < 4 * count) slots *= 2;
    mask_ = slots - 1;
    for (u32 i = 0; i < slots; ++i) slots_[i] = 0;
    for (u32 i = 0; i < count; ++i) {
      if (pairs[i].first == 0 || pairs[i].second == 0) continue;
      insert(key_of(pairs[i].first, 0));
      insert(key_of(pairs[i].second, 0));
      insert(key_of(pairs[i].first, pairs[i].second));
    }
  }

  bool has_site(u32 site) const { return site != 0 && slots_[slot_of(key_of(site, 0))] != 0; }
  bool has_pair(u32 a, u32 b) const { return a != 0 && b != 0 && slots_[slot_of(key_of(a, b))] != 0; }

 private:
  static constexpr u32 kSlots = 4 * kMostPairs;

  static u64 key_of(u32 a, u32 b) { return a > b ? u64{a} << 32 | b : u64{b} << 32 | a; }

  /// Where the key is, or where it would go.
  u32 slot_of(u64 key) const {
    u32 slot = static_cast<u32>(mix(key)) & mask_;
    while (slots_[slot] != 0 && slots_[slot] != key) slot = (slot + 1) & mask_;
    return slot;
  }

  void insert(u64 key) { slots_[slot_of(key)] = key; }

  u64 slots_[kSlots] = {};
  u32 mask_ = 3;
};

}  // namespace duress::sched
