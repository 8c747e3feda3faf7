// SPDX-License-Identifier: Apache-2.0
#include "analysis/fasttrack/atomic_history.h"

#include <string.h>

namespace duress {

AtomicHistory* AtomicHistory::make(Arena& arena) {
  auto* h = static_cast<AtomicHistory*>(arena.allocate(sizeof(AtomicHistory)));
  h->capacity_ = 4;
  h->count_ = 0;
  h->entries_ = static_cast<Entry*>(arena.allocate(h->capacity_ * sizeof(Entry)));
  memset(h->entries_, 0, h->capacity_ * sizeof(Entry));
  return h;
}

void AtomicHistory::destroy(Arena& arena) {
  arena.free(entries_, capacity_ * sizeof(Entry));
  arena.free(this, sizeof(AtomicHistory));
}

AtomicHistory::Entry* AtomicHistory::probe(u32 key) {
  u32 i = (key * 0x9e3779b1u) & (capacity_ - 1);
  while (entries_[i].id && entries_[i].key != key) i = (i + 1) & (capacity_ - 1);
  return &entries_[i];
}

AtomicHistory::Entry& AtomicHistory::entry(Arena& arena, u32 key) {
  Entry* e = probe(key);
  if (e->id) return *e;
  if ((count_ + 1) * 4 > capacity_ * 3) {
    grow(arena);
    e = probe(key);
  }
  ++count_;
  e->key = key;
  return *e;
}

void AtomicHistory::grow(Arena& arena) {
  Entry* old = entries_;
  u32 old_capacity = capacity_;
  capacity_ *= 2;
  entries_ = static_cast<Entry*>(arena.allocate(capacity_ * sizeof(Entry)));
  memset(entries_, 0, capacity_ * sizeof(Entry));
  for (u32 i = 0; i < old_capacity; ++i) {
    if (old[i].id) *probe(old[i].key) = old[i];
  }
  arena.free(old, old_capacity * sizeof(Entry));
}

}  // namespace duress
