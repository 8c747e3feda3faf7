// SPDX-License-Identifier: Apache-2.0
//
// The part of GraphExplorer that remembers: graphs that were explored, and loads after which a strand waits
// in a loop. Both are kept as hashes in one table.
#include "base/prng.h"
#include "exhaustive/graph_explorer.h"

namespace duress::exhaustive {

/// Events are named by strand and index, so the interleaving does not matter.
u64 GraphExplorer::name_of(i32 e) const {
  if (e < 0) return static_cast<u64>(static_cast<i64>(e));
  const Planned& plan = events_[static_cast<u32>(e)].plan;
  return u64{1} << 32 | u64{plan.strand} << 16 | plan.index;
}

bool GraphExplorer::is_known(u64 hash) const {
  u32 at = static_cast<u32>(mix(hash)) & (seen_.size() - 1);
  while (seen_[at] && seen_[at] != hash) at = (at + 1) & (seen_.size() - 1);
  return seen_[at] == hash;
}

/// REQUIRES: it is not known.
void GraphExplorer::remember(u64 hash) {
  auto put = [&](u64 one) {
    u32 at = static_cast<u32>(mix(one)) & (seen_.size() - 1);
    while (seen_[at]) at = (at + 1) & (seen_.size() - 1);
    seen_[at] = one;
  };
  if (seen_count_ * 2 >= seen_.size()) {
    List<u64> all(arena_);
    for (u64 one : seen_) {
      if (one) all.push(one);
    }
    seen_.resize(seen_.size() * 2);
    for (u64& one : seen_) one = 0;
    for (u64 one : all) put(one);
  }
  put(hash);
  ++seen_count_;
}

/// Whether the graph was explored before.
bool GraphExplorer::seen_before() {
  u64 hash = 0;
  for (u32 i = 0; i < events_.size(); ++i) {
    const Event& e = events_[i];
    u64 one = mix(name_of(static_cast<i32>(i)) ^ mix(raw(e.plan.kind)));
    one = mix(one ^ (e.reads ? mix(name_of(e.plan.reads) + 1) : 0));
    one = mix(one ^ (e.writes ? mix(name_of(e.before) + 2) : 0));
    hash += one;
  }
  hash = hash ? hash : 1;
  if (is_known(hash)) return true;
  remember(hash);
  return false;
}

/// All that decides what a strand does after a load that reads `source`: the load's causal prefix.
u64 GraphExplorer::hash_of_load(u32 n, i32 source) const {
  Clock prefix[kMostStrands];
  __builtin_memcpy(prefix, &base_[n * kMostStrands], sizeof prefix);
  if (source >= 0) join(prefix, &clocks_[static_cast<u32>(source) * kMostStrands]);
  u64 hash = mix(mix(name_of(static_cast<i32>(n))) ^ name_of(source));
  for (u32 i = 0; i < events_.size(); ++i) {
    const Event& e = events_[i];
    if (i == n || !known(prefix, i)) continue;
    hash += mix(mix(name_of(static_cast<i32>(i)) ^ mix(raw(e.plan.kind))) ^
                (e.reads ? mix(name_of(e.plan.reads) + 1) : 0));
  }
  return hash | 1;
}

/// Remembers the last loads of loops that wait. True: one of them has read a store although a newer one had
/// been added before, which will never change: no revisit removes such a load, and nothing depends on it. So
/// no execution that begins with this graph counts.
bool GraphExplorer::note_waiting(const Step* steps, u32 count) {
  bool in_vain = false;
  for (u32 i = 0; i < count; ++i) {
    if (!steps[i].is(Step::kPending) || !steps[i].is(Step::kAwaits)) continue;
    u32 n = events_.size();
    while (n > 0 && events_[n - 1].plan.strand != steps[i].strand) --n;
    if (n-- == 0) continue;
    const Event& e = events_[n];
    if (!e.atomic || !e.reads || e.writes) continue;
    if (u64 hash = hash_of_load(n, e.plan.reads); !is_known(hash)) remember(hash);
    for (const Event& w : events_) {
      in_vain |= w.writes && w.object == e.object && w.size == e.size && w.rank > rank_of(e.plan.reads) &&
                 w.plan.write_stamp <= e.plan.stamp;
    }
  }
  return in_vain;
}

}  // namespace duress::exhaustive
