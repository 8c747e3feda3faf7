// SPDX-License-Identifier: Apache-2.0
//
// The part of GraphExplorer that finds further graphs in an execution: alternatives and revisits.
// graph_items.cc writes them down.
#include "exhaustive/graph_explorer.h"

namespace duress::exhaustive {

/// Whether the strand of that block is blocked there at that time.
bool GraphExplorer::waits(u32 block, u32 time) const {
  const Block& mine = blocks_[block];
  for (u32 i = block + 1; i < blocks_.size(); ++i) {
    if (blocks_[i].strand == mine.strand && blocks_[i].index == mine.index) return false;
  }
  for (u32 e = 0; e < time; ++e) {
    if (events_[e].plan.strand == mine.strand && events_[e].plan.index == mine.index) return false;
  }
  return true;
}

void GraphExplorer::process(u32 n) {
  const Event& e = events_[n];
  for (const Block& block : blocks_) {
    // Its alternatives were added when it lost its lock.
    if (block.strand == e.plan.strand && block.index == e.plan.index) return;
  }
  if (e.lock) return process_lock(n, n);
  if (!e.atomic) return;
  for (u64 rest = e.legal & ~(u64{1} << e.age); rest; rest &= rest - 1) {
    i32 source = store_of_age(n, static_cast<u32>(__builtin_ctzll(rest)));
    // An older store after which its strand is known to wait in a loop: no execution with it counts.
    if (e.plan.kind == OpKind::kAtomicRead && e.age == 0 && is_known(hash_of_load(n, source))) continue;
    make_item(n, source, n, {});
  }
  if (e.writes) revisits(n, e.plan.reads, n, kNothing);
  // An update that reads a store which another update has read: that one has to read another store.
  for (u64 rest = e.readable & ~e.legal; rest; rest &= rest - 1) {
    i32 source = store_of_age(n, static_cast<u32>(__builtin_ctzll(rest)));
    i32 consumer = kNothing;
    for (u32 i = 0; i < n; ++i) {
      const Event& other = events_[i];
      if (other.reads && other.writes && other.object == e.object && other.size == e.size &&
          other.plan.reads == source)
        consumer = static_cast<i32>(i);
    }
    revisits(n, source, n, consumer);
  }
}

/// A lock could have come after any unlock, in place of the lock that did.
void GraphExplorer::process_lock(u32 a, u32 time) {
  const Event& e = events_[a];
  i32 newest = kInitial;
  for (const Object& o : objects_) {
    if (o.address == e.object && o.size == e.size) newest = o.newest;
  }
  // From the newest back: `next` is the lock that follows, `depth` how many unlocks follow without theirs.
  i32 next = kNothing;
  i32 depth = 0;
  for (i32 at = newest;; at = events_[static_cast<u32>(at)].before) {
    if (at != kInitial && static_cast<u32>(at) >= time) continue;
    bool is_lock = at != kInitial && events_[static_cast<u32>(at)].reads;
    if (next != kNothing && depth == 0 && !is_lock) revisits(a, at, time, next);
    if (at == kInitial) return;
    if (is_lock) {
      next = at;
      if (depth) --depth;
    } else {
      ++depth;
    }
  }
}

/// Locks that are blocked at the end.
void GraphExplorer::process_pending(const Step* steps, u32 count) {
  u32 executed = events_.size();
  for (u32 i = 0; i < count; ++i) {
    const Step& step = steps[i];
    if (!step.is(Step::kPending) || step.kind != OpKind::kLock) continue;
    u16 index = counts_[step.strand];
    bool blocked = false;
    for (const Block& block : blocks_) blocked |= block.strand == step.strand && block.index == index;
    if (blocked) continue;
    Event& e = events_.push();
    e = {};
    e.plan = {step.strand, step.kind, index, stamps_++, 0, kInitial};
    e.plan.write_stamp = stamps_++;
    e.object = step.touch[0].object;
    e.size = step.touch[0].size;
    e.reads = e.writes = e.lock = true;
    e.before = e.floor = kInitial;
    base_.resize((executed + 1) * kMostStrands);
    clocks_.resize((executed + 1) * kMostStrands);
    __builtin_memcpy(base(executed), strands_[step.strand], sizeof strands_[0]);
    process_lock(executed, executed);
    events_.cut(executed);
  }
}

/// Event a reads `source`, if it reads, and writes: every read of the same object outside its causal prefix
/// could read it. If `consumer` is given, it has to read another store.
void GraphExplorer::revisits(u32 a, i32 source, u32 time, i32 consumer) {
  Clock prefix[kMostStrands];
  const Event& mine = events_[a];
  __builtin_memcpy(prefix, base(a), sizeof prefix);
  if (mine.reads && source >= 0) join(prefix, clock(static_cast<u32>(source)));
  auto gives_way = [&](u32 stamp) {
    return consumer == kNothing || (!known(prefix, static_cast<u32>(consumer)) &&
                                    events_[static_cast<u32>(consumer)].plan.stamp >= stamp);
  };
  for (u32 r = 0; r < time; ++r) {
    const Event& e = events_[r];
    if (r == a || !e.reads || e.object != mine.object || e.size != mine.size || e.lock != mine.lock) continue;
    if (!(e.atomic || e.lock) || known(prefix, r) || !gives_way(e.plan.stamp)) continue;
    revisit(a, source, time, {static_cast<i32>(r), kNothing, e.plan.stamp, e.plan.strand, e.plan.index},
            prefix);
  }
  for (u32 b = 0; b < blocks_.size(); ++b) {
    const Block& block = blocks_[b];
    const Event& way = events_[static_cast<u32>(block.on)];
    if (!mine.lock || way.object != mine.object || way.size != mine.size || !waits(b, time)) continue;
    if (block.strand == mine.plan.strand && block.index == mine.plan.index) continue;
    if (gives_way(block.stamp))
      revisit(a, source, time, {kNothing, static_cast<i32>(b), block.stamp, block.strand, block.index},
              prefix);
  }
}

void GraphExplorer::revisit(u32 a, i32 source, u32 time, const Reader& reader, const Clock* prefix) {
  kept_.resize(events_.size());
  for (bool& kept : kept_) kept = false;
  for (u32 e = 0; e < time; ++e) {
    if (e == a) continue;
    const Planned& plan = events_[e].plan;
    bool leads = known(prefix, e);
    if (static_cast<i32>(e) != reader.event && (leads || plan.stamp < reader.stamp)) {
      if (!leads && events_[e].writes && plan.write_stamp > reader.stamp) return;
      kept_[e] = true;
    } else if (!maximal(e, prefix, time)) {
      return;
    }
  }
  kept_blocks_.resize(blocks_.size());
  for (u32 b = 0; b < blocks_.size(); ++b) {
    const Block& block = blocks_[b];
    bool leads = prefix[block.strand] > block.index;
    kept_blocks_[b] = static_cast<i32>(b) != reader.block && (leads || block.stamp < reader.stamp);
    if (kept_blocks_[b] ? !kept_[static_cast<u32>(block.on)] : !maximal(block, prefix, time)) return;
  }
  if (closed(reader)) make_item(a, source, time, reader);
}

/// Whether the event was added maximally: it read, or was, the newest store among those that had been added
/// until then or are in the revisit's causal prefix.
bool GraphExplorer::maximal(u32 e, const Clock* prefix, u32 time) const {
  const Event& mine = events_[e];
  u32 source = mine.reads ? rank_of(mine.plan.reads) : 0;
  for (u32 i = 0; i < time; ++i) {
    const Event& other = events_[i];
    if (i == e || other.object != mine.object || other.size != mine.size) continue;
    bool leads = known(prefix, i);
    if (other.writes) {
      if (mine.reads && other.rank > source && (leads || other.plan.write_stamp <= mine.plan.stamp))
        return false;
      if (mine.writes && other.rank > mine.rank && (leads || other.plan.write_stamp <= mine.plan.write_stamp))
        return false;
    }
    if (mine.writes && other.reads && other.plan.reads == static_cast<i32>(e) &&
        (leads || other.plan.stamp <= mine.plan.write_stamp))
      return false;
  }
  for (u32 b = 0; b < blocks_.size(); ++b) {
    const Block& block = blocks_[b];
    if (block.on == static_cast<i32>(e) &&
        (prefix[block.strand] > block.index || block.stamp <= mine.plan.write_stamp))
      return false;
  }
  return true;
}

/// The same for a lock that was lost: what counts is what it reads now.
bool GraphExplorer::maximal(const Block& block, const Clock* prefix, u32 time) const {
  const Event& on = events_[static_cast<u32>(block.on)];
  u32 source = on.rank;
  for (u32 b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].strand == block.strand && blocks_[b].index == block.index) source = rank_of(blocks_[b].on);
  }
  for (u32 i = 0; i < time; ++i) {
    const Planned& plan = events_[i].plan;
    if (plan.strand == block.strand && plan.index == block.index) source = rank_of(plan.reads);
  }
  for (u32 i = 0; i < time; ++i) {
    const Event& other = events_[i];
    if (other.writes && other.object == on.object && other.size == on.size && other.rank > source &&
        (known(prefix, i) || other.plan.write_stamp <= block.stamp))
      return false;
  }
  return true;
}

/// Whether the kept events and the reader depend only on kept events.
bool GraphExplorer::closed(const Reader& reader) const {
  u16 there[kMostStrands] = {};
  for (u32 e = 0; e < kept_.size(); ++e) {
    if (kept_[e]) ++there[events_[e].plan.strand];
  }
  auto has = [&](const Clock* needs) {
    for (u32 s = 0; s < kMostStrands; ++s) {
      if (needs[s] > there[s]) return false;
    }
    return true;
  };
  for (u32 e = 0; e < kept_.size(); ++e) {
    if (kept_[e] && !has(&clocks_[e * kMostStrands])) return false;
  }
  for (u32 b = 0; b < blocks_.size(); ++b) {
    if (kept_blocks_[b] && there[blocks_[b].strand] < blocks_[b].index) return false;
  }
  if (reader.event != kNothing && !has(&base_[static_cast<u32>(reader.event) * kMostStrands])) return false;
  return there[reader.strand] == reader.index;
}

}  // namespace duress::exhaustive
