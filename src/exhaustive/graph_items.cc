// SPDX-License-Identifier: Apache-2.0
//
// The part of GraphExplorer that makes an item of pending work: which events a further graph keeps, in which
// order they are repeated, and what each reads.
#include "exhaustive/graph_explorer.h"

namespace duress::exhaustive {

/// Adds the graph of the kept events at that time, then a, which reads or follows `source`; then the reader,
/// which reads a. Without a reader everything is kept: another alternative of a.
void GraphExplorer::make_item(u32 a, i32 source, u32 time, const Reader& reader) {
  const Event& mine = events_[a];
  if (reader.none()) {
    kept_.resize(events_.size());
    for (u32 e = 0; e < events_.size(); ++e) kept_[e] = e < time && e != a;
    kept_blocks_.resize(blocks_.size());
    for (bool& kept : kept_blocks_) kept = true;
  }
  if (reader.none() || mine.reads) return write_item(a, source, time, reader);
  // Places of a store in modification order: after each kept store.
  u32 least = rank_of(mine.floor), read = rank_of(events_[static_cast<u32>(reader.event)].floor);
  if (read > least) least = read;
  for (i32 after = kInitial; after < static_cast<i32>(time); ++after) {
    if (rank_of(after) < least) continue;
    if (after != kInitial) {
      const Event& store = events_[static_cast<u32>(after)];
      if (!kept_[static_cast<u32>(after)] || !store.writes || store.object != mine.object ||
          store.size != mine.size)
        continue;
    }
    bool taken = false;  // by an update
    for (u32 e = 0; e < time; ++e) {
      const Event& other = events_[e];
      taken |= kept_[e] && other.reads && other.writes && other.object == mine.object &&
               other.size == mine.size && other.plan.reads == after;
    }
    if (!taken) write_item(a, after, time, reader);
  }
}

void GraphExplorer::write_item(u32 a, i32 after, u32 time, const Reader& reader) {
  const Event& mine = events_[a];
  bool blocks = !reader.none() && mine.lock;
  u32 count = reader.none() || blocks ? 1 : 2, waiting = blocks;
  for (u32 e = 0; e < time; ++e) count += kept_[e];
  for (bool kept : kept_blocks_) waiting += kept;
  auto* item = static_cast<Item*>(arena_.allocate(sizeof(Item)));
  *item = {++serials_, count, waiting, 0, kNothing, 0, nullptr, nullptr, nullptr};
  item->planned = static_cast<Planned*>(arena_.allocate(count * sizeof(Planned)));
  item->picks = static_cast<Pick*>(arena_.allocate(count * sizeof(Pick)));
  if (waiting) item->blocked = static_cast<Block*>(arena_.allocate(waiting * sizeof(Block)));
  nodes_ += count;
  place_.resize(events_.size());
  // How many stores of the same object come after that one in modification order so far.
  auto age = [&](const Event& e, u32 rank, u32 until) {
    u32 later = 0;
    for (u32 i = 0; i < until; ++i) {
      const Event& other = events_[i];
      later +=
          kept_[i] && other.writes && other.object == e.object && other.size == e.size && other.rank > rank;
    }
    if (later > 0xff) limits_ |= StepLog::kHistory;  // more than a pick can say
    return static_cast<u8>(later);
  };
  auto use = [&](u32 stamp) { item->stamps = item->stamps <= stamp ? stamp + 1 : item->stamps; };
  u32 at = 0;
  auto put = [&](u32 e, i32 reads, u8 choice) {
    Planned& planned = item->planned[at];
    planned = events_[e].plan;
    planned.reads = reads;
    item->picks[at] = {planned.strand, choice};
    place_[e] = static_cast<i32>(at++);
    use(planned.stamp);
    use(planned.write_stamp);
  };
  auto moved = [&](i32 e) { return e >= 0 ? place_[static_cast<u32>(e)] : e; };
  for (u32 e = 0; e < time; ++e) {
    if (!kept_[e]) continue;
    const Event& other = events_[e];
    u8 choice = 0;
    if (other.atomic) choice = age(other, other.reads ? rank_of(other.plan.reads) : other.rank, e);
    put(e, moved(other.plan.reads), choice);
  }
  put(a, mine.reads ? moved(after) : kNothing, mine.atomic ? age(mine, rank_of(after), time) : u8{0});
  i32 last = kNothing;  // whose read is new
  if (reader.none()) {
    last = static_cast<i32>(a);
  } else if (!blocks) {
    last = reader.event;
    const Event& changed = events_[static_cast<u32>(last)];
    put(static_cast<u32>(last), place_[a], age(changed, rank_of(after), time));
  }
  if (last != kNothing && events_[static_cast<u32>(last)].plan.kind == OpKind::kAtomicRmw)
    item->fresh = moved(last);
  u32 b = 0;
  auto block = [&](const Block& waits_there, i32 on) {
    item->blocked[b] = waits_there;
    item->blocked[b++].on = on;
    use(waits_there.stamp);
    bool executed = false;
    for (u32 i = 0; i < count; ++i)
      executed |=
          item->planned[i].strand == waits_there.strand && item->planned[i].index == waits_there.index;
    if (!executed) item->first |= u64{1} << waits_there.strand;
  };
  for (u32 i = 0; i < blocks_.size(); ++i) {
    if (kept_blocks_[i]) block(blocks_[i], moved(blocks_[i].on));
  }
  if (blocks) block({reader.strand, reader.index, reader.stamp, 0}, place_[a]);
  items_.push(item);
}

}  // namespace duress::exhaustive
