// SPDX-License-Identifier: Apache-2.0
#include "sched/observer.h"

#include "sched/place_key.h"

namespace duress::sched {
namespace {

/// Operations that tell something by the object they are performed on.
bool is_ordered(const Operation& operation) {
  switch (operation.kind) {
    case OpKind::kStart:
    case OpKind::kEnd:
    case OpKind::kFence:
    case OpKind::kCreate:
    case OpKind::kCreated:
    case OpKind::kJoin:
    case OpKind::kYield:
    case OpKind::kSleep:
    case OpKind::kSystem:
    case OpKind::kChoose:
      return false;
    default:
      return operation.object != 0;
  }
}

u64 hash_of(u64 a, u64 b, u64 c) {
  return mix(mix(mix(a) + b) + c);
}

}  // namespace

Observer::Object* Observer::object_of(uptr address) {
  u64 at = mix(address) % kObjects;
  for (; object_[at].execution == execution_; at = (at + 1) % kObjects) {
    if (object_[at].address == address) return &object_[at];
  }
  if (objects_ == kObjects / 2) return nullptr;
  ++objects_;
  object_[at] = {address, execution_, 0, 0, 0};
  return &object_[at];
}

bool Observer::repeats(const StrandView& strand, u32 place, const Object& object) {
  u32 seen = static_cast<u32>(hash_of(object.address, object.strand, object.event));
  Read& last = read_[hash_of(strand.order, place, 0) % kReads];
  if (last.execution == execution_ && last.strand == strand.order && last.place == place && last.seen == seen)
    return true;
  last = {execution_, strand.order, place, seen};
  return false;
}

void Observer::add_pair(u32 hash) {
  u32 at = hash % kPairs;
  for (; pair_[at].execution == execution_; at = (at + 1) % kPairs) {
    if (pair_[at].hash == hash) return;
  }
  if (pairs_ == trail::kMostObservedPairs) return;
  pair_[at] = {execution_, hash};
  list_[pairs_++] = hash;
}

void Observer::performs(StrandView& strand) {
  if (!is_ordered(strand.next)) return;
  Object* object = object_of(strand.next.object);
  if (object == nullptr) return;
  if (strand.order == 0) strand.order = ++strands_;
  u32 place = place_key(strand.next);
  bool only_reads = is_access(strand.next.kind) && !writes(strand.next.kind);
  if (only_reads && repeats(strand, place, *object)) return;
  ++strand.events;
  u64 self = u64{strand.order} << 32 | strand.events;
  u64 source = u64{object->strand} << 32 | object->event;
  // A sum: the order of independent operations does not matter.
  signature_ += hash_of(self, source, u64{place} << 16 ^ (strand.next.object & kWithinPage));
  u64 other = object->strand != 0 && object->strand != strand.order ? 1 : 0;
  add_pair(static_cast<u32>(hash_of(place, object->place, other)));
  if (only_reads) return;
  object->strand = strand.order;
  object->event = strand.events;
  object->place = place;
}

void Observer::finish(trail::Record& record) {
  if (!on_) return;
  record.signature = signature_;
  record.observed_pair_count = pairs_;
  for (u32 i = 0; i < pairs_; ++i) record.observed_pairs()[i] = list_[i];
}

}  // namespace duress::sched
