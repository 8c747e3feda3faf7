// SPDX-License-Identifier: Apache-2.0
//
// A list that grows, in an arena: what an analysis remembers of one location (location_table.h). It does not
// keep the arena, because there is one list for each location.
#pragma once

#include <string.h>

#include "base/arena.h"

namespace duress {

/// T is moved by copying its bytes. Threads: callers lock.
template <typename T>
struct ArenaList {
  T* items = nullptr;
  u32 count = 0, capacity = 0;

  T& push(Arena& arena, const T& item) {
    if (count == capacity) {
      u32 more = capacity ? capacity * 2 : 2;
      auto* grown = static_cast<T*>(arena.allocate(more * sizeof(T)));
      if (count) memcpy(static_cast<void*>(grown), static_cast<const void*>(items), count * sizeof(T));
      drop(arena);
      items = grown, capacity = more;
    }
    return items[count++] = item;
  }
  void pop_front() {
    memmove(static_cast<void*>(items), static_cast<const void*>(items + 1), --count * sizeof(T));
  }
  ArenaList copy(Arena& arena) const {
    ArenaList other;
    for (const T& item : *this) other.push(arena, item);
    return other;
  }
  void drop(Arena& arena) { arena.free(items, capacity * sizeof(T)); }

  T* begin() { return items; }
  T* end() { return items + count; }
  const T* begin() const { return items; }
  const T* end() const { return items + count; }
};

}  // namespace duress
