// SPDX-License-Identifier: Apache-2.0
#include "reads_from/trace.h"

#include <algorithm>

namespace duress::reads_from {

namespace {

bool is_atomic(OpKind kind) {
  return kind == OpKind::kAtomicRead || kind == OpKind::kAtomicWrite || kind == OpKind::kAtomicRmw;
}

/// Steps that touch one object, and are enabled or not by its state alone.
bool is_simple(OpKind kind) {
  switch (kind) {
    case OpKind::kRead:
    case OpKind::kWrite:
    case OpKind::kAtomicRead:
    case OpKind::kAtomicWrite:
    case OpKind::kAtomicRmw:
    case OpKind::kLock:
    case OpKind::kTryLock:
    case OpKind::kUnlock:
    case OpKind::kReadLock:
    case OpKind::kTryReadLock:
    case OpKind::kAcquire:
    case OpKind::kTryAcquire:
    case OpKind::kPost:
    case OpKind::kBarrier:
    case OpKind::kChoose:
    case OpKind::kExit:
      return true;
    default:
      return false;
  }
}

constexpr char kSeveralSizes[] = "an object is accessed in several sizes";

u32 touched(const Step& step) {
  u32 count = 0;
  for (u32 i = 0; i < step.touches; ++i) count += step.touch[i].size != 0;
  return count;
}

}  // namespace

bool Event::reads() const {
  return std::any_of(access, access + count, [](const Access& one) { return one.reads; });
}
bool Event::writes() const {
  return std::any_of(access, access + count, [](const Access& one) { return one.writes; });
}

Hash hash_of(const Event& event) {
  Hash hash = Hash().then(event.id).then(raw(event.step.kind)).then(event.step.value);
  for (u32 i = 0; i < event.count; ++i) {
    const Access& access = event.access[i];
    hash = hash.then(access.object).then(access.reads ? u64{access.source} : ~u64{0});
  }
  return hash;
}

bool depends_on_value(const Step& step) {
  return step.kind == OpKind::kTryLock || step.kind == OpKind::kTryReadLock ||
         step.kind == OpKind::kTryAcquire || (step.kind == OpKind::kAtomicRmw && step.is(Step::kCompares));
}

bool Trace::fits(const Step& step) {
  const bool reads_only = step.kind == OpKind::kAtomicRead || step.kind == OpKind::kRead;
  if (!is_simple(step.kind)) {
    why_ = std::string("threads meet at another operation than locks and atomics: ") + word_of(step.kind);
  } else if (touched(step) > 1 && !(step.is(Step::kAwaits) && reads_only)) {
    why_ = "a loop that waits updates one object and looks at others";
  }
  return why_.empty();
}

Trace::Status Trace::read(const Step* steps, u32 count, Ordered& ordered) {
  *this = Trace();
  bool more = false;
  u32 strands = 0;
  for (const Step* step = steps; step < steps + count; ++step) {
    strands = std::max({strands, step->strand + 1u, step->is(Step::kAfter) ? step->other + 1u : 0u});
    if (step->is(Step::kAfter)) continue;
    if (!fits(*step)) return Status::kNotSupported;
    for (u32 t = 0; t < step->touches; ++t) {
      const exhaustive::Touch& touch = step->touch[t];
      if (touch.size == 0) continue;
      auto [it, is_new] = objects_.try_emplace(touch.object);
      Object& object = it->second;
      if (is_new) {
        object.size = touch.size;
        object.ordered = !is_access(step->kind) || ordered.has(touch.object);
        object.counted = object.ordered && ordered.awaited.count(touch.object) == 0;
        object.counted = object.counted || ordered.plain.count(touch.object) != 0;
      }
      if (object.size != touch.size) {
        why_ = kSeveralSizes;
        return Status::kNotSupported;
      }
      if (!is_access(step->kind)) continue;
      if (!is_atomic(step->kind))
        more = ordered.plain.insert(touch.object).second || more;
      else if (step->is(Step::kAwaits))
        more = ordered.awaited.insert(touch.object).second || more;
    }
  }
  if (objects_overlap()) {
    why_ = kSeveralSizes;
    return Status::kNotSupported;
  }
  if (more) return Status::kNewOrdered;
  by_strand_.resize(strands);
  sums_.assign(strands, {Hash()});
  std::vector<std::vector<After>> waiting(strands);
  for (const Step* step = steps; step < steps + count; ++step) {
    if (!step->is(Step::kAfter)) {
      add(*step, waiting);
      continue;
    }
    // After what the other one did, and what that one continued after since.
    std::vector<After>& mine = waiting[step->strand];
    const std::vector<After> others = waiting[step->other];
    mine.insert(mine.end(), others.begin(), others.end());
    if (u32 before = steps_of(step->other); before != 0) mine.push_back({step->other, before});
  }
  return Status::kRead;
}

bool Trace::objects_overlap() {
  std::vector<std::pair<u64, u32>> all;
  for (const auto& [address, object] : objects_) all.emplace_back(address, object.size);
  std::sort(all.begin(), all.end());
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i - 1].first + all[i - 1].second > all[i].first) return true;
  }
  return false;
}

/// What the strand continued after since its last step.
void Trace::attach(Event& event, std::vector<After>& waiting) {
  event.first_after = static_cast<u32>(afters_.size());
  afters_.insert(afters_.end(), waiting.begin(), waiting.end());
  event.last_after = static_cast<u32>(afters_.size());
  waiting.clear();
}

void Trace::add(const Step& step, std::vector<std::vector<After>>& waiting) {
  Event event;
  event.step = step;
  event.position = static_cast<u32>(events_.size());
  event.id = id_of(step.strand, steps_of(step.strand) + 1);
  for (u32 t = 0; t < step.touches; ++t) {
    const exhaustive::Touch& touch = step.touch[t];
    if (touch.size == 0) continue;
    Object& object = objects_[touch.object];
    Access& access = event.access[event.count++];
    access.object = touch.object;
    access.writes = touch.mode == Mode::kWrite;
    access.reads = object.ordered || step.kind != OpKind::kAtomicWrite;
    if (access.reads) access.source = object.last;
    if (object.last != 0) {
      Event& writer = events_[by_strand_[strand_of(object.last)][index_of(object.last) - 1]];
      writer.value_known = true;
      writer.value = touch.before;
    } else if (!object.known) {
      object.known = true;
      object.value = touch.before;
    }
    object.touching.push_back(event.id);
  }
  attach(event, waiting[step.strand]);
  if (step.is(Step::kPending)) {
    for (u32 i = 0; i < event.count; ++i) objects_[event.access[i].object].touching.pop_back();
    pending_.push_back(event);
    return;
  }
  Counts causes(strands(), 0);
  join_past(event, causes);
  for (u32 i = 0; i < event.count; ++i) {
    const Access& access = event.access[i];
    if (access.reads) join_causes(access.source, causes);
    if (access.writes) objects_[access.object].last = event.id;
  }
  causes[step.strand] = index_of(event.id);
  causes_.push_back(std::move(causes));
  by_strand_[step.strand].push_back(event.position);
  sums_[step.strand].push_back(sums_[step.strand].back() + hash_of(event));
  events_.push_back(event);
}

const std::vector<EventId>& Trace::touching(u64 object) const {
  static const std::vector<EventId> kNone;
  auto it = objects_.find(object);
  return it == objects_.end() ? kNone : it->second.touching;
}

bool Trace::is_ordered(u64 object) const {
  auto it = objects_.find(object);
  return it != objects_.end() && it->second.ordered;
}

void Trace::join_causes(EventId id, Counts& into) const {
  if (id == 0) return;
  const Counts& causes = causes_[event(id).position];
  for (u32 s = 0; s < strands(); ++s) into[s] = std::max(into[s], causes[s]);
}

void Trace::join_past(const Event& event, Counts& into) const {
  if (u32 index = index_of(event.id); index > 1) join_causes(event.id - 1, into);
  for (u32 i = event.first_after; i < event.last_after; ++i)
    join_causes(id_of(afters_[i].strand, afters_[i].count), into);
}

bool Trace::value_after(EventId write, u64 object, u64* value) const {
  if (write == 0) {
    auto it = objects_.find(object);
    if (it == objects_.end() || !it->second.known) return false;
    *value = it->second.value;
    return true;
  }
  const Event& writer = event(write);
  *value = writer.value;
  return writer.value_known;
}

Hash Trace::hash_between(const Counts& without, const Counts& all) const {
  Hash hash;
  for (u32 s = 0; s < strands(); ++s) hash = hash + (sums_[s][all[s]] - sums_[s][without[s]]);
  return hash;
}

Hash Trace::hash_of_class() const {
  Hash hash;
  for (const Event& event : events_) {
    Event counted = event;
    for (u32 i = 0; i < counted.count; ++i) {
      auto it = objects_.find(counted.access[i].object);
      if (it->second.counted) continue;
      // What an await loop looks at beside the first is read by later steps of it.
      counted.access[i].reads = i == 0 && event.step.kind != OpKind::kAtomicWrite;
    }
    hash = hash + hash_of(counted);
  }
  return hash;
}

}  // namespace duress::reads_from
