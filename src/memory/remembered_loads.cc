// SPDX-License-Identifier: Apache-2.0
#include "memory/remembered_loads.h"

#include "base/check.h"

namespace duress::memory {

RememberedLoads::RememberedLoads(HeuristicId heuristic, u32 fair_after, u64 seed)
    : heuristic_(heuristic), fair_after_(fair_after), prng_(seed) {
  clear();
}

void RememberedLoads::clear() {
  for (Entry& entry : entries_) entry.load = {};
}

void RememberedLoads::remember(const Load& load, const Moment& then, const Legal& legal, u32 run) {
  DURESS_CHECK(load.in_one_word());
  Entry& entry = entry_of(load);
  entry.load = load;
  entry.then = then;
  entry.count = legal.count;
  entry.run = run;
  entry.fixed = 0;
  if (legal.count == 1) return;
  Value* values = values_of(entry);
  auto keep = [&](u32 i) {
    const LegalValue& from = legal.values[i];
    values[i] = {static_cast<u64>(from.value), from.site, from.age, from.same_as_last};
  };
  if (picks_the_same()) {
    entry.fixed = pick_value(heuristic_, legal, *this);
    keep(0);
    keep(entry.fixed);
    return;
  }
  for (u32 i = 0; i < legal.count; ++i) keep(i);
}

/// Fair as StaleModel::load(), but the run of stale loads and what was read last are those of this entry.
u64 RememberedLoads::pick_again(Entry& entry) {
  Value* values = values_of(entry);
  u32 pick = entry.fixed;
  if (fair_after_ && entry.run >= fair_after_) {
    pick = 0;
  } else if (!picks_the_same()) {
    Legal legal;
    legal.address = entry.load.address;
    legal.size = entry.load.size;
    legal.count = entry.count;
    for (u32 i = 0; i < entry.count; ++i) {
      const Value& value = values[i];
      legal.values[i] = {value.value, value.site, value.age, value.same_as_last, false};
    }
    pick = pick_value(heuristic_, legal, *this);
    DURESS_CHECK(pick < entry.count);
    for (u32 i = 0; i < entry.count; ++i) values[i].same_as_last = i == pick;
  }
  entry.run = pick ? entry.run + 1 : 0;
  if (pick) add_one(stale_reads_);
  return values[pick].value;
}

}  // namespace duress::memory
