// SPDX-License-Identifier: Apache-2.0
//
// The histories of rc11: from an object to its stores in modification order, and which of them may go.
#include "memory/rc11_model.h"

namespace duress::memory {

Rc11Model::Rc11Model(Arena& arena, ClockSource& threads, Options options)
    : arena_(arena), threads_(threads), options_(options), order_(arena) {
  buckets_ = static_cast<AtomicLocation**>(arena_.allocate(options_.buckets * sizeof *buckets_));
  for (u32 i = 0; i < options_.buckets; ++i) buckets_[i] = nullptr;
}

Rc11Model::~Rc11Model() {
  remove({0, ~uptr{0}});
  arena_.free(buckets_, options_.buckets * sizeof *buckets_);
}

u32 Rc11Model::remove(Extent extent) {
  u32 removed = 0;
  // A location lies in 16 aligned bytes. Of a large extent every bucket is looked at, once.
  u64 blocks = ((extent.end - 1) >> 4) - (extent.begin >> 4) + 1;
  for (u64 i = 0; i < blocks && i < options_.buckets; ++i) {
    AtomicLocation** link = &bucket(extent.begin + (i << 4));
    while (AtomicLocation* location = *link) {
      if (location->address >= extent.end || location->address + location->size <= extent.begin) {
        link = &location->next;
        continue;
      }
      *link = location->next;
      location->~AtomicLocation();
      arena_.free(location, sizeof *location);
      --locations_;
      ++removed;
    }
  }
  return removed;
}

void Rc11Model::forget(Extent extent) {
  if (locations_ && extent.begin < extent.end) remove(extent);
}

void Rc11Model::drop(Extent extent) {
  statistics_.dropped += remove(extent);
  order_.settle_all();
}

/// The history of an object; begins with what memory holds. Null: there is no room for it.
AtomicLocation* Rc11Model::find(const Object& object, u128 memory) {
  uptr end = object.address + object.size;
  bool others = false;
  for (AtomicLocation* l = bucket(object.address); l; l = l->next) {
    if (l->address == object.address && l->size == object.size) {
      if (l->newest().value == memory) return l;
      ++statistics_.unseen;
      others = true;
    }
    others |= l->address < end && object.address < l->address + l->size;
  }
  if (others) drop({object.address, end});
  if (locations_ >= options_.most_locations) {
    ++statistics_.dropped;
    return nullptr;
  }
  ++locations_;
  auto* made = arena_.make<AtomicLocation>(arena_, object.address, object.size);
  AtomicLocation*& first = bucket(object.address);
  made->next = first;
  first = made;
  made->insert(0, memory, next_id_++).released.copy_from(arena_, object.released);
  return made;
}

void Rc11Model::remove_oldest(AtomicLocation& location, u32 count) {
  for (u32 i = 0; i < count; ++i) {
    order_.add(location.preceding_all,
               order_.look(location[i].preceding) | order_.look(location[i].by_readers));
  }
  location.remove_first(count);
}

/// Room for one more store. Stores that no thread can read any more, now or later, go first.
void Rc11Model::make_space(AtomicLocation& location) {
  if (location.count() < location.collect_at) return;
  u32 unread = location.count(), cursor = 0;
  while (const VectorClock* clock = threads_.next(&cursor)) {
    u32 floor = location.floor(*clock);
    unread = floor < unread ? floor : unread;
  }
  if (unread == location.count()) unread = 0;  // no threads: nothing is known
  remove_oldest(location, unread);
  if (location.count() >= options_.most_stores) {
    remove_oldest(location, 1);
    ++statistics_.remove_oldest;
  }
  u32 twice = location.count() * 2, most = options_.most_stores;
  location.collect_at = twice < 8 ? 8 : twice > most ? most : twice;
}

}  // namespace duress::memory
