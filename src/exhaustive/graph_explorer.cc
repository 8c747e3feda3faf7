// SPDX-License-Identifier: Apache-2.0
#include "exhaustive/graph_explorer.h"

#include "base/check.h"

namespace duress::exhaustive {

GraphExplorer::GraphExplorer(Arena& arena)
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
      seen_(arena),
      tree_(arena) {
  seen_.resize(1024);
  for (u64& hash : seen_) hash = 0;
  auto* item = static_cast<Item*>(arena_.allocate(sizeof(Item)));
  *item = {++serials_, 0, 0, 0, kNothing, 0, nullptr, nullptr, nullptr};
  items_.push(item);
}

GraphExplorer::~GraphExplorer() {
  free_items();
}

void GraphExplorer::free_items() {
  while (items_.size()) {
    free_item(items_.last());
    items_.cut(items_.size() - 1);
  }
}

void GraphExplorer::free_item(Item* item) {
  nodes_ -= item->count;
  if (item->count) arena_.free(item->planned, item->count * sizeof(Planned));
  if (item->count) arena_.free(item->picks, item->count * sizeof(Pick));
  if (item->blocks) arena_.free(item->blocked, item->blocks * sizeof(Block));
  arena_.free(item, sizeof(Item));
}

void GraphExplorer::begin_subtree(const GraphExplorer&, const Item* item) {
  free_items();
  auto* copy = new (arena_.allocate(sizeof(Item))) Item(*item);
  auto copied = [&](auto*& list, u32 count) {
    size_t bytes = count * sizeof *list;
    auto* from = list;
    list = count ? static_cast<decltype(from)>(arena_.allocate(bytes)) : nullptr;
    if (count) __builtin_memcpy(static_cast<void*>(list), from, bytes);
  };
  copied(copy->planned, copy->count);
  copied(copy->picks, copy->count);
  copied(copy->blocked, copy->blocks);
  nodes_ += copy->count;
  items_.push(copy);
}

bool GraphExplorer::next(Plan* plan) {
  if (!items_.size()) return false;
  Item* item = items_.last();
  *plan = {item->picks, item->count, item->first, item};
  return true;
}

void GraphExplorer::join(Clock* into, const Clock* from) {
  for (u32 i = 0; i < kMostStrands; ++i) into[i] = into[i] < from[i] ? from[i] : into[i];
}

GraphExplorer::Object& GraphExplorer::object(u64 address, u32 size) {
  for (Object& o : objects_) {
    if (o.address == address && o.size == size) return o;
    // Mixed-size atomics (both counts of a shared pointer) are not supported in graphs: the result is
    // bounded. Exploring interleavings handles them.
    if (o.address < address + size && address < o.address + o.size)
      limits_ |= StepLog::kMixedSizes | StepLog::kNotExplored;
  }
  objects_.push({address, kInitial, kInitial, size});
  return objects_.last();
}

// ---- the graph of an execution ----

/// The store that had this age when event n was executed.
i32 GraphExplorer::store_of_age(u32 n, u32 age) const {
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

void GraphExplorer::add_event(const Item& item, const Step& step) {
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
  if (step.kind == OpKind::kWait) {  // releases its mutex
    e.object = step.touch[1].object;
    e.size = 1;
    e.reads = false;
    limits_ |= StepLog::kNotExplored;
  }
  // Racing plain accesses that are not treated as atomics.
  if (step.kind == OpKind::kRead || step.kind == OpKind::kWrite || step.kind == OpKind::kFree)
    limits_ |= StepLog::kNotExplored;
  // It reads an atomic and the wait queue in one step.
  if (step.kind == OpKind::kFutexWait || step.kind == OpKind::kFutexWake) limits_ |= StepLog::kNotExplored;
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
  // Operations that are neither atomics nor locks are not reordered.
  if (meets(step.kind, e.object, e.size, own, n)) limits_ |= StepLog::kNotExplored;
  if (!explores(step.kind) && o.last != kInitial) join(own, clock(static_cast<u32>(o.last)));
  Clock* all = clock(n);
  __builtin_memcpy(all, own, sizeof strands_[0]);
  if (e.reads && source >= 0) join(all, clock(static_cast<u32>(source)));
  all[step.strand] = e.plan.index + 1;
  __builtin_memcpy(strands_[step.strand], all, sizeof strands_[0]);
  if (e.writes) {
    // Between `source` and its successor.
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
  // Its stamp: when it was added.
  if (n < item.count) {
    e.plan.stamp = item.planned[n].stamp;
    e.plan.write_stamp = item.planned[n].write_stamp;
    if (static_cast<i32>(n) == item.fresh) e.plan.write_stamp = stamps_++;
    return;
  }
  e.plan.stamp = stamps_++;
  e.plan.write_stamp = e.reads && e.writes ? stamps_++ : e.plan.stamp;
}

/// Whether strands meet at an object that graphs do not cover: another strand has touched it, and that event
/// does not happen before `own`.
bool GraphExplorer::meets(OpKind kind, u64 object, u32 size, const Clock* own, u32 time) const {
  bool more = !explores(kind), apart = false;
  for (u32 i = 0; i < time; ++i) {
    const Event& other = events_[i];
    if (other.object != object || other.size != size) continue;
    more |= !explores(other.plan.kind);
    apart |= !known(own, i);
  }
  return more && apart;
}

/// False: it did not follow the plan.
bool GraphExplorer::build(const Item& item, const Step* steps, u32 count) {
  events_.clear();
  base_.clear();
  clocks_.clear();
  objects_.clear();
  __builtin_memset(strands_, 0, sizeof strands_);
  __builtin_memset(counts_, 0, sizeof counts_);
  stamps_ = item.stamps;
  for (u32 i = 0; i < count; ++i) {
    const Step& step = steps[i];
    if (step.is(Step::kPending)) {
      if (step.touches &&
          meets(step.kind, step.touch[0].object, step.touch[0].size, strands_[step.strand], events_.size()))
        limits_ |= StepLog::kNotExplored;
      continue;
    }
    if (step.is(Step::kAfter)) {
      join(strands_[step.strand], strands_[step.other]);
      continue;
    }
    if (step.kind == OpKind::kChoose) {  // what the program leaves open
      limits_ |= StepLog::kNotExplored;
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

GraphExplorer::Learned GraphExplorer::learn(Item* ticket, const Step* steps, u32 count, u32 limits) {
  DURESS_CHECK(items_.size() && items_.last() == ticket);
  items_.cut(items_.size() - 1);
  const u32 others = items_.size();
  Learned result = Learned::kNew;
  if (limits & StepLog::kIllegal) {
    ++illegal_;
    result = Learned::kIllegal;
  } else if (!build(*ticket, steps, count)) {
    ++diverged_;
    result = Learned::kDiverged;
  } else if (note_waiting(steps, count)) {
    ++await_blocked_;
    result = Learned::kAwaitBlocked;
  } else {
    if (ticket->fresh != kNothing) {
      auto fresh = static_cast<u32>(ticket->fresh);
      if (events_[fresh].writes) revisits(fresh, events_[fresh].plan.reads, ticket->count, kNothing);
    }
    for (u32 n = ticket->count; n < events_.size(); ++n) process(n);
    process_pending(steps, count);
    if (limits & StepLog::kAwaitBlocked) {
      ++await_blocked_;
      result = Learned::kAwaitBlocked;
    } else if (seen_before()) {
      ++duplicates_;
      result = Learned::kDuplicate;
    }
  }
  free_item(ticket);
  tree_.learned(result == Learned::kNew, items_.size() - others);
  return result;
}

}  // namespace duress::exhaustive
