// SPDX-License-Identifier: Apache-2.0
//
// A vector clock of accesses that also knows where each was: by slot, the time of the thread's last access of
// one kind. What happens-before detectors that do not use epochs keep for each location.
#pragma once

#include <string.h>

#include "analysis/access_note.h"
#include "clock/vector_clock.h"

namespace duress {

/// Accesses that conflict alike: plain ones race with all, atomic ones only with plain ones.
enum class AccessClass : u8 { kRead, kWrite, kAtomicRead, kAtomicWrite };
constexpr int kAccessClasses = 4;

constexpr AccessClass class_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return AccessClass::kRead;
    case AccessKind::kAtomicRead:
      return AccessClass::kAtomicRead;
    case AccessKind::kAtomicWrite:
    case AccessKind::kAtomicRmw:
      return AccessClass::kAtomicWrite;
    default:
      return AccessClass::kWrite;
  }
}

constexpr bool conflicts(AccessClass a, AccessClass b) {
  bool atomic = a >= AccessClass::kAtomicRead && b >= AccessClass::kAtomicRead;
  bool writes = a == AccessClass::kWrite || a == AccessClass::kAtomicWrite || b == AccessClass::kWrite ||
                b == AccessClass::kAtomicWrite;
  return writes && !atomic;
}

class Marks {
 public:
  /// Returns true if memory for it had to be taken.
  bool set(Arena& arena, Slot slot, Clock clock, const AccessNote& note) {
    bool grown = raw(slot) >= size_;
    if (grown) grow(arena, raw(slot) + 1u);
    clocks_[raw(slot)] = clock;
    notes()[raw(slot)] = note;
    return grown;
  }
  Clock get(Slot slot) const { return raw(slot) < size_ ? clocks_[raw(slot)] : 0; }
  /// An access that `known` does not know; null if there is none.
  const AccessNote* unordered(const VectorClock& known) const {
    u32 both = known.size() < size_ ? known.size() : size_;
    const Clock* other = known.data();
    Clock late = 0;
    for (u32 i = 0; i < both; ++i) late |= clocks_[i] > other[i];
    for (u32 i = both; i < size_; ++i) late |= clocks_[i] != 0;
    if (DURESS_LIKELY(!late)) return nullptr;
    for (u32 i = 0; i < size_; ++i) {
      if (clocks_[i] > known.get(static_cast<Slot>(i))) return &notes()[i];
    }
    return nullptr;
  }
  Marks copy(Arena& arena) const {
    Marks m;
    if (!size_) return m;
    m.grow(arena, size_);
    memcpy(static_cast<void*>(m.clocks_), static_cast<const void*>(clocks_), bytes(size_));
    return m;
  }
  void drop(Arena& arena) {
    if (size_) arena.free(clocks_, bytes(size_));
    size_ = 0;
  }
  bool empty() const { return size_ == 0; }

 private:
  static size_t bytes(u32 n) { return n * (sizeof(Clock) + sizeof(AccessNote)); }
  AccessNote* notes() const { return reinterpret_cast<AccessNote*>(clocks_ + size_); }
  void grow(Arena& arena, u32 wanted) {
    u32 n = size_ ? size_ : 4;
    while (n < wanted) n *= 2;
    auto* grown = static_cast<Clock*>(arena.allocate(bytes(n)));
    memset(static_cast<void*>(grown), 0, bytes(n));
    if (size_) {
      memcpy(grown, clocks_, size_ * sizeof(Clock));
      memcpy(static_cast<void*>(grown + n), static_cast<const void*>(notes()), size_ * sizeof(AccessNote));
      arena.free(clocks_, bytes(size_));
    }
    clocks_ = grown;
    size_ = n;
  }

  Clock* clocks_ = nullptr;  // then the notes
  u32 size_ = 0;
};

/// All accesses of a location.
struct LocationMarks {
  Marks of[kAccessClasses];

  LocationMarks copy(Arena& arena) const {
    LocationMarks m;
    for (int i = 0; i < kAccessClasses; ++i) m.of[i] = of[i].copy(arena);
    return m;
  }
  void drop(Arena& arena) {
    for (Marks& m : of) m.drop(arena);
  }
  /// An earlier access that races with one of class `c`; null if there is none.
  const AccessNote* racing(AccessClass c, const VectorClock& known) const {
    for (int i = 0; i < kAccessClasses; ++i) {
      if (of[i].empty() || !conflicts(c, static_cast<AccessClass>(i))) continue;
      if (const AccessNote* note = of[i].unordered(known)) return note;
    }
    return nullptr;
  }
};

}  // namespace duress
