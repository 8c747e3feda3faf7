// SPDX-License-Identifier: Apache-2.0
#include "clock/sync_table.h"

#include "base/check.h"

namespace duress {

SyncTable::SyncTable(Arena& arena) : arena_(arena) {
  buckets_ = static_cast<Bucket*>(map_memory(kBuckets * sizeof(Bucket)));
  if (!buckets_) fatal("out of memory for the table of synchronisation objects");
}

SyncTable::~SyncTable() {
  unmap_memory(buckets_, kBuckets * sizeof(Bucket));
}

SyncObject* SyncTable::find(uptr address, u8 size) {
  Bucket& bucket = buckets_[index(address >> 3)];
  SpinGuard guard(bucket.lock);
  for (SyncObject* o = bucket.first; o; o = o->next) {
    if (o->address == address && o->size == size) return o;
  }
  return nullptr;
}

SyncObject* SyncTable::get(uptr address, u8 size, bool* made) {
  if (made) *made = false;
  Bucket& bucket = buckets_[index(address >> 3)];
  SpinGuard guard(bucket.lock);
  for (SyncObject* o = bucket.first; o; o = o->next) {
    if (o->address == address && o->size == size) return o;
  }
  SyncObject* o = make();
  o->address = address;
  o->size = size;
  o->next = bucket.first;
  bucket.first = o;
  if (made) *made = true;
  return o;
}

void SyncTable::retire(SyncObject* o) {
  o->released.clear(arena_);
  o->readers.clear(arena_);
  o->history = nullptr;
  o->address = 0;
  SpinGuard guard(retired_lock_);
  o->next = retired_;
  retired_ = o;
}

SyncObject* SyncTable::make() {
  SpinGuard guard(retired_lock_);
  if (SyncObject* o = retired_) {
    retired_ = o->next;
    u32 version = o->version.load(std::memory_order_relaxed);
    new (o) SyncObject;
    o->version.store((version | 1) + 1,
                     std::memory_order_relaxed);  // what threads remember of the old one is not of this
    return o;
  }
  objects_.store(objects() + 1, std::memory_order_relaxed);
  return arena_.make<SyncObject>();
}

void SyncTable::reset_locks() {
  new (&retired_lock_) SpinLock;
  for (u32 i = 0; i < kBuckets; ++i) {
    if (!buckets_[i].first) continue;
    new (&buckets_[i].lock) SpinLock;
    for (SyncObject* o = buckets_[i].first; o; o = o->next) new (&o->lock) SpinLock;
  }
}

}  // namespace duress
