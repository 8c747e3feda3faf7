// SPDX-License-Identifier: Apache-2.0
#include "exhaustive/graphs.h"

#include "base/check.h"
#include "base/prng.h"

namespace duress::exhaustive {

Graphs::Graphs(Arena& arena)
    : arena_(arena),
      items_(arena),
      events_(arena),
      base_(arena),
      clocks_(arena),
      objects_(arena),
      blocks_(arena),
      kept_(arena),
      kept_blocks_(arena),
      place_(arena),
      seen_(arena) {
  seen_.resize(1024);
  for (u64& hash : seen_) hash = 0;
  auto* item = static_cast<Item*>(arena_.allocate(sizeof(Item)));
  *item = {++serials_, 0, 0, 0, kNothing, 0, nullptr, nullptr, nullptr};
  items_.push(item);
}

Graphs::~Graphs() {
  while (items_.size()) {
    free_item(items_.last());
    items_.cut(items_.size() - 1);
  }
}

void Graphs::free_item(Item* item) {
  nodes_ -= item->count;
  if (item->count) arena_.free(item->planned, item->count * sizeof(Planned));
  if (item->count) arena_.free(item->picks, item->count * sizeof(Pick));
  if (item->blocks) arena_.free(item->blocked, item->blocks * sizeof(Block));
  arena_.free(item, sizeof(Item));
}

bool Graphs::next(Plan* plan) {
  if (!items_.size()) return false;
  Item* item = items_.last();
  *plan = {item->picks, item->count, item->first, item};
  return true;
}

void Graphs::join(Clock* into, const Clock* from) {
  for (u32 i = 0; i < kMostStrands; ++i) into[i] = into[i] < from[i] ? from[i] : into[i];
}

Graphs::Object& Graphs::object(u64 address, u32 size) {
  for (Object& o : objects_) {
    if (o.address == address && o.size == size) return o;
    // Atomics of several sizes at one place are beyond the model.
    if (o.address < address + size && address < o.address + o.size) limits_ |= StepLog::kNotExplored;
  }
  objects_.push({address, kInitial, kInitial, size});
  return objects_.last();
}

// ---- what happened ----

/// The store of that age when event n happened.
i32 Graphs::store_of_age(u32 n, u32 age) const {
  const Event& e = events_[n];
  i32 at = kInitial;
  for (u32 i = 0; i < objects_.size(); ++i) {
    if (objects_[i].address == e.object && objects_[i].size == e.size) at = objects_[i].newest;
  }
  for (; at != kInitial; at = events_[static_cast<u32>(at)].before) {
    if (static_cast<u32>(at) >= n) continue;
    if (age-- == 0) return at;
  }
  return kInitial;
}

/// The one before it in modification order that happened before that time.
i32 Graphs::store_before(i32 store, u32 time) const {
  do store = events_[static_cast<u32>(store)].before;
  while (store != kInitial && static_cast<u32>(store) >= time);
  return store;
}

void Graphs::add_event(const Item& item, const Step& step) {
  u32 n = events_.size();
  Event& e = events_.push();
  base_.resize((n + 1) * kMostStrands);
  clocks_.resize((n + 1) * kMostStrands);
  const Touch& touch = step.touch[0];
  e.plan = {step.strand, step.kind, counts_[step.strand]++, 0, 0, kNothing};
  e.object = touch.object;
  e.size = touch.size;
  e.rank = 0;
  e.before = e.floor = kInitial;
  e.age = step.value;
  e.legal = e.readable = 0;
  e.atomic = is_access(step.kind);
  e.lock = step.kind == OpKind::kLock;
  e.reads = step.kind != OpKind::kAtomicWrite && step.kind != OpKind::kUnlock;
  e.writes = touch.mode == Mode::kWrite;
  if (step.kind == OpKind::kWait) {  // gives its mutex back
    e.object = step.touch[1].object;
    e.size = 1;
    e.reads = false;
    limits_ |= StepLog::kNotExplored;
  }
  if (e.atomic) {
    e.legal = step.choices;
    e.readable = step.expected;
  } else {
    e.age = 0;
  }
  Clock* own = base(n);
  __builtin_memcpy(own, strands_[step.strand], sizeof strands_[0]);
  Object& o = object(e.object, e.size);
  i32 source = store_of_age(n, e.age);
  if (e.atomic) e.floor = store_of_age(n, static_cast<u32>(touch.before));
  if (e.reads) e.plan.reads = source;
  // Whoever is no atomic, and no lock, is not put into another order with others.
  bool explored = e.atomic || e.lock || step.kind == OpKind::kUnlock;
  if (e.lock && o.last != kInitial && events_[static_cast<u32>(o.last)].plan.kind == OpKind::kTryLock &&
      !known(own, static_cast<u32>(o.last)))
    limits_ |= StepLog::kNotExplored;
  if (!explored && o.last != kInitial) {
    if (!known(own, static_cast<u32>(o.last))) limits_ |= StepLog::kNotExplored;
    join(own, clock(static_cast<u32>(o.last)));
  }
  Clock* all = clock(n);
  __builtin_memcpy(all, own, sizeof strands_[0]);
  if (e.reads && source >= 0) join(all, clock(static_cast<u32>(source)));
  all[step.strand] = e.plan.index + 1;
  __builtin_memcpy(strands_[step.strand], all, sizeof strands_[0]);
  if (e.writes) {
    // Between `source` and what followed it.
    e.before = source;
    if (o.newest == source) {
      o.newest = static_cast<i32>(n);
    } else {
      for (u32 i = 0; i < n; ++i) {
        Event& other = events_[i];
        if (other.writes && other.object == e.object && other.size == e.size && other.before == source)
          other.before = static_cast<i32>(n);
      }
    }
  }
  o.last = static_cast<i32>(n);
  // When it was added.
  if (n < item.count) {
    e.plan.stamp = item.planned[n].stamp;
    e.plan.write_stamp = item.planned[n].write_stamp;
    if (static_cast<i32>(n) == item.fresh) e.plan.write_stamp = stamps_++;
    return;
  }
  e.plan.stamp = stamps_++;
  e.plan.write_stamp = e.reads && e.writes ? stamps_++ : e.plan.stamp;
}

/// False: it did not follow the plan.
bool Graphs::build(const Item& item, const Step* steps, u32 count) {
  events_.clear();
  base_.clear();
  clocks_.clear();
  objects_.clear();
  __builtin_memset(strands_, 0, sizeof strands_);
  __builtin_memset(counts_, 0, sizeof counts_);
  stamps_ = item.stamps;
  for (u32 i = 0; i < count; ++i) {
    const Step& step = steps[i];
    if (step.is(Step::kPending)) continue;
    if (step.is(Step::kAfter)) {
      join(strands_[step.strand], strands_[step.other]);
      continue;
    }
    u32 n = events_.size();
    add_event(item, step);
    if (n >= item.count) continue;
    const Planned& planned = item.planned[n];
    const Planned& is = events_[n].plan;
    if (is.strand != planned.strand || is.kind != planned.kind || is.index != planned.index) return false;
    if (events_[n].reads && is.reads != planned.reads) return false;
  }
  if (events_.size() < item.count) return false;
  for (Object& o : objects_) {
    u32 rank = 0;
    for (i32 at = o.newest; at != kInitial; at = events_[static_cast<u32>(at)].before) ++rank;
    for (i32 at = o.newest; at != kInitial; at = events_[static_cast<u32>(at)].before)
      events_[static_cast<u32>(at)].rank = rank--;
  }
  blocks_.clear();
  for (u32 i = 0; i < item.blocks; ++i) blocks_.push(item.blocked[i]);
  return true;
}

/// Whether the graph is known. Events are named by their strand and number, so the order of execution does
/// not matter.
bool Graphs::seen_before() {
  auto name = [&](i32 e) -> u64 {
    if (e < 0) return static_cast<u64>(static_cast<i64>(e));
    const Planned& plan = events_[static_cast<u32>(e)].plan;
    return u64{1} << 32 | u64{plan.strand} << 16 | plan.index;
  };
  u64 hash = 0;
  for (u32 i = 0; i < events_.size(); ++i) {
    const Event& e = events_[i];
    u64 one = mix(name(static_cast<i32>(i)) ^ mix(raw(e.plan.kind)));
    one = mix(one ^ (e.reads ? mix(name(e.plan.reads) + 1) : 0));
    one = mix(one ^ (e.writes ? mix(name(e.before) + 2) : 0));
    hash += one;
  }
  hash = hash ? hash : 1;
  if (seen_count_ * 2 >= seen_.size()) {
    u32 old = seen_.size();
    List<u64> all(arena_);
    for (u32 i = 0; i < old; ++i) {
      if (seen_[i]) all.push(seen_[i]);
    }
    seen_.resize(old * 2);
    for (u64& one : seen_) one = 0;
    for (u64 one : all) {
      u32 at = static_cast<u32>(mix(one)) & (seen_.size() - 1);
      while (seen_[at]) at = (at + 1) & (seen_.size() - 1);
      seen_[at] = one;
    }
  }
  u32 at = static_cast<u32>(mix(hash)) & (seen_.size() - 1);
  while (seen_[at]) {
    if (seen_[at] == hash) return true;
    at = (at + 1) & (seen_.size() - 1);
  }
  seen_[at] = hash;
  ++seen_count_;
  return false;
}

Graphs::Learned Graphs::learn(Item* ticket, const Step* steps, u32 count, u32 limits) {
  DURESS_CHECK(items_.size() && items_.last() == ticket);
  items_.cut(items_.size() - 1);
  Learned result = Learned::kNew;
  if (limits & StepLog::kIllegal) {
    ++illegal_;
    result = Learned::kIllegal;
  } else if (!build(*ticket, steps, count)) {
    ++diverged_;
    result = Learned::kDiverged;
  } else {
    if (ticket->fresh != kNothing) {
      auto fresh = static_cast<u32>(ticket->fresh);
      if (events_[fresh].writes) revisits(fresh, events_[fresh].plan.reads, ticket->count, kNothing);
    }
    for (u32 n = ticket->count; n < events_.size(); ++n) process(n);
    process_pending(steps, count);
    if (limits & StepLog::kWaits) {
      ++waits_;
      result = Learned::kWaits;
    } else if (seen_before()) {
      ++again_;
      result = Learned::kAgain;
    }
  }
  free_item(ticket);
  return result;
}

// ---- what else could have happened ----

/// Whether that block is where its event stands at that time.
bool Graphs::waits(u32 block, u32 time) const {
  const Block& mine = blocks_[block];
  for (u32 i = block + 1; i < blocks_.size(); ++i) {
    if (blocks_[i].strand == mine.strand && blocks_[i].index == mine.index) return false;
  }
  for (u32 e = 0; e < time; ++e) {
    if (events_[e].plan.strand == mine.strand && events_[e].plan.index == mine.index) return false;
  }
  return true;
}

void Graphs::process(u32 n) {
  const Event& e = events_[n];
  for (const Block& block : blocks_) {
    // It was decided when it lost its lock.
    if (block.strand == e.plan.strand && block.index == e.plan.index) return;
  }
  if (e.lock) return process_lock(n, n);
  if (!e.atomic) return;
  for (u64 rest = e.legal & ~(u64{1} << e.age); rest; rest &= rest - 1)
    make_item(n, store_of_age(n, static_cast<u32>(__builtin_ctzll(rest))), n, {});
  if (e.writes) revisits(n, e.plan.reads, n, kNothing);
  // An update that reads what another one has read already: that one must give way.
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
void Graphs::process_lock(u32 a, u32 time) {
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

/// Locks that wait at the end.
void Graphs::process_pending(const Step* steps, u32 count) {
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

/// Event a reads `source`, if it reads, and writes: every read of the same object that does not lead to it
/// could read it. If `consumer` is given it must give way.
void Graphs::revisits(u32 a, i32 source, u32 time, i32 consumer) {
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

void Graphs::revisit(u32 a, i32 source, u32 time, const Reader& reader, const Clock* prefix) {
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

/// Whether the event read, or was, the newest of what had been added until then or leads to the revisit.
bool Graphs::maximal(u32 e, const Clock* prefix, u32 time) const {
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

/// The same of a lock that was lost: what counts is what it has read by now.
bool Graphs::maximal(const Block& block, const Clock* prefix, u32 time) const {
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

/// Whether what is kept, and the reader, need nothing that is not.
bool Graphs::closed(const Reader& reader) const {
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

/// The graph of what is kept at that time, then a, reading `source` or following it; then the reader, reading
/// a. If there is no reader, everything is kept, and it is another choice for a.
void Graphs::make_item(u32 a, i32 source, u32 time, const Reader& reader) {
  const Event& mine = events_[a];
  if (reader.none()) {
    kept_.resize(events_.size());
    for (u32 e = 0; e < events_.size(); ++e) kept_[e] = e < time && e != a;
    kept_blocks_.resize(blocks_.size());
    for (bool& kept : kept_blocks_) kept = true;
  }
  if (reader.none() || mine.reads) return write_item(a, source, time, reader);
  // Where a store comes in modification order: after each that is kept.
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

void Graphs::write_item(u32 a, i32 after, u32 time, const Reader& reader) {
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
  // How many stores of the same object that are there already come after that one.
  auto age = [&](const Event& e, u32 rank, u32 until) {
    u32 later = 0;
    for (u32 i = 0; i < until; ++i) {
      const Event& other = events_[i];
      later +=
          kept_[i] && other.writes && other.object == e.object && other.size == e.size && other.rank > rank;
    }
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
