// SPDX-License-Identifier: Apache-2.0
#include "clock/lock_set.h"

#include <string.h>

#include "base/check.h"
#include "base/prng.h"

namespace duress {

LockSets::LockSets(Arena& arena) : arena_(arena) {
  sets_ = static_cast<std::atomic<Set*>*>(map_memory((kLimit + 1u) * sizeof(Set*)));
  if (!sets_) fatal("out of memory for lock sets");
}

LockSets::~LockSets() {
  for (u32 i = 1; i < used_; ++i) {
    Set* s = sets_[i].load(std::memory_order_relaxed);
    arena_.free(s, sizeof(Set) + s->count * sizeof(HeldLock));
  }
  unmap_memory(sets_, (kLimit + 1u) * sizeof(Set*));
}

const HeldLock* LockSets::locks(LockSetId set, u32* count) const {
  *count = 0;
  if (raw(set) == 0 || set == kUnknown) return nullptr;
  const Set* s = sets_[raw(set)].load(std::memory_order_acquire);
  *count = s->count;
  return s->locks;
}

LockSetId LockSets::intern(const HeldLock* locks, u32 count) {
  if (count == 0) return LockSetId{0};
  u64 hash = count;
  for (u32 i = 0; i < count; ++i) hash = mix(hash ^ locks[i].address ^ (locks[i].shared ? u64{1} << 63 : 0));
  SpinGuard guard(lock_);
  Set*& bucket = buckets_[hash % kBuckets];
  for (Set* s = bucket; s; s = s->next_in_bucket) {
    if (s->count != count) continue;
    u32 i = 0;
    while (i < count && s->locks[i] == locks[i]) ++i;
    if (i == count) return s->id;
  }
  if (used_ >= kLimit) return kUnknown;
  auto* s = static_cast<Set*>(arena_.allocate(sizeof(Set) + count * sizeof(HeldLock)));
  s->count = count;
  s->id = static_cast<LockSetId>(used_);
  memcpy(static_cast<void*>(s->locks), locks, count * sizeof(HeldLock));
  s->next_in_bucket = bucket;
  bucket = s;
  sets_[used_++].store(s, std::memory_order_release);
  return s->id;
}

LockSetId LockSets::add(LockSetId set, HeldLock lock) {
  u32 count;
  const HeldLock* held = locks(set, &count);
  if (set == kUnknown || count >= kLongest) return kUnknown;
  HeldLock next[kLongest];
  for (u32 i = 0; i < count; ++i) next[i] = held[i];
  next[count] = lock;
  return intern(next, count + 1);
}

LockSetId LockSets::remove(LockSetId set, HeldLock lock) {
  u32 count;
  const HeldLock* held = locks(set, &count);
  if (set == kUnknown) return kUnknown;
  HeldLock next[kLongest];
  u32 n = 0;
  bool removed = false;
  for (u32 i = count; i-- > 0;) {  // the one taken last goes first (recursion)
    if (!removed && held[i] == lock) {
      removed = true;
    } else {
      next[kLongest - 1 - n++] = held[i];
    }
  }
  return intern(next + kLongest - n, n);
}

LockSetId LockSets::protecting(LockSetId held, bool write) {
  if (held == kUnknown) return kUnknown;
  u32 count, n = 0;
  const HeldLock* locks_held = locks(held, &count);
  HeldLock next[kLongest];
  for (u32 i = 0; i < count; ++i) {
    if (!(write && locks_held[i].shared)) next[n++] = {locks_held[i].address, false};
  }
  return intern(next, n);
}

LockSetId LockSets::refine(LockSetId set, LockSetId held, bool write) {
  if (held == kUnknown) return set;
  if (set == kUnknown) return protecting(held, write);
  if (set == held && !write) return set;
  u32 count, held_count, n = 0;
  const HeldLock* candidates = locks(set, &count);
  const HeldLock* locks_held = locks(held, &held_count);
  HeldLock next[kLongest];
  for (u32 i = 0; i < count; ++i) {
    for (u32 k = 0; k < held_count; ++k) {
      if (locks_held[k].address != candidates[i].address || (write && locks_held[k].shared)) continue;
      next[n++] = candidates[i];
      break;
    }
  }
  return n == count ? set : intern(next, n);
}

bool LockSets::exclude(LockSetId a, LockSetId b) const {
  u32 a_count, b_count;
  const HeldLock* as = locks(a, &a_count);
  const HeldLock* bs = locks(b, &b_count);
  for (u32 i = 0; i < a_count; ++i) {
    for (u32 k = 0; k < b_count; ++k) {
      if (as[i].address == bs[k].address && !(as[i].shared && bs[k].shared)) return true;
    }
  }
  return false;
}

}  // namespace duress
