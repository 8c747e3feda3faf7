// SPDX-License-Identifier: Apache-2.0
#include "analysis/sync_flow.h"

#include "base/prng.h"

namespace duress {

static constexpr u32 kBuckets = 1u << 12;

static u64 hash_of(uptr granule) {
  return mix(granule) % kBuckets;
}

SyncFlow::~SyncFlow() {
  for (Entry* e : table_) {
    while (e) {
      Entry* next = e->next;
      arena_.free(e, sizeof(Entry));
      e = next;
    }
  }
}

Element SyncFlow::thread(Tid tid) {
  Element& e = threads_[raw(tid)];
  if (e == Element::kNobody) {
    e = static_cast<Element>(names_.size());
    names_.push() = {ElementRole::kThread, 0, raw(tid)};
  }
  return e;
}

Element SyncFlow::get(ElementRole role, uptr address, u8 size) {
  Entry*& head = table_[hash_of(address >> 3)];
  for (Entry* e = head; e; e = e->next) {
    const Name& n = name(e->element);
    if (n.address == address && n.role == role && n.size == size) return e->element;
  }
  auto* e = static_cast<Entry*>(arena_.allocate(sizeof(Entry)));
  *e = {head, static_cast<Element>(names_.size())};
  head = e;
  names_.push() = {role, size, address};
  return e->element;
}

template <typename Visit>
void SyncFlow::each_overlapping(uptr address, u8 size, Visit visit) {
  for (uptr granule = (address >> 3) - 1, last = (address + size - 1) >> 3; granule <= last; ++granule) {
    for (Entry* e = table_[hash_of(granule)]; e; e = e->next) {
      const Name& n = name(e->element);
      bool other = n.role == ElementRole::kReleased && n.size && n.address >> 3 == granule &&
                   !(n.address == address && n.size == size);
      if (other && n.address < address + size && address < n.address + n.size)
        visit(e->element, n.address, n.size);
    }
  }
}

void SyncFlow::apply(const AnalysisThread& t, const Sync& sync, FlowSink& sink) {
  Element self = thread(t.tid);
  auto released = [&] { return get(ElementRole::kReleased, sync.object, 0); };
  auto readers = [&] { return get(ElementRole::kReaders, sync.object, 0); };
  auto own = [&](ElementRole role) { return get(role, raw(t.tid), 0); };
  auto order = static_cast<MemoryOrder>(atomic_order(sync.detail));
  auto size = static_cast<u8>(atomic_size(sync.detail));
  switch (sync.kind) {
    case SyncKind::kMutexLock:
      sink.learn(self, released());
      sink.learn(self, readers());
      break;
    case SyncKind::kMutexUnlock:
      sink.become(released(), self);
      sink.become(readers(), Element::kNobody);
      break;
    case SyncKind::kReadLock:
    case SyncKind::kAcquire:
      sink.learn(self, released());
      break;
    case SyncKind::kReadUnlock:
      sink.learn(readers(), self);
      break;
    case SyncKind::kRelease:
      if (sync.detail) {
        sink.learn(released(), self);
      } else {
        sink.become(released(), self);
      }
      break;
    case SyncKind::kForget:
      sink.become(released(), Element::kNobody);
      sink.become(readers(), Element::kNobody);
      break;
    case SyncKind::kAtomicLoad: {
      Element who = acquires(order) ? self : own(ElementRole::kPending);
      sink.learn(who, get(ElementRole::kReleased, sync.object, size));
      each_overlapping(sync.object, size, [&](Element e, uptr, u8) { sink.learn(who, e); });
      break;
    }
    case SyncKind::kAtomicStore:
    case SyncKind::kAtomicRmw: {
      Element at = get(ElementRole::kReleased, sync.object, size);
      Element from = releases(order) ? self : own(ElementRole::kFence);
      if (sync.kind == SyncKind::kAtomicRmw) {
        sink.learn(at, from);  // it goes on with the release sequence that it read
      } else {
        sink.become(at, from);
      }
      each_overlapping(sync.object, size, [&](Element e, uptr address, u8 bytes) {
        if (address >= sync.object && address + bytes <= sync.object + size) {
          sink.become(e, at);
        } else {
          sink.learn(e, at);
        }
      });
      break;
    }
    case SyncKind::kFence:
      if (acquires(order)) sink.learn(self, own(ElementRole::kPending));
      if (releases(order)) sink.become(own(ElementRole::kFence), self);
      break;
    case SyncKind::kThreadCreate:
      sink.learn(thread(static_cast<Tid>(sync.object)), self);
      break;
    case SyncKind::kThreadJoin:
      sink.learn(self, thread(static_cast<Tid>(sync.object)));
      break;
    default:
      break;
  }
}

}  // namespace duress
