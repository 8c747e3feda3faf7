// SPDX-License-Identifier: Apache-2.0
//
// The races that one access takes part in, collected while the line of the cell is locked and reported after
// it is unlocked: reporting takes other locks and writes to a file.
#pragma once

#include "analysis/fasttrack/fasttrack.h"

namespace duress {

struct FastTrack::Found {
  static constexpr u32 kMost = 24;  // a granule adds at most 8: one race is enough for a byte
  struct Item {
    AccessRecord record;
    AccessKind kind;
    uptr address;
    u32 size;
  };
  u32 count = 0;
  uptr granule = 0;  // of `bytes`
  u8 bytes = 0;      // bytes of the granule that have a race already
  Item items[kMost];

  bool nearly_full() const { return count + 8 > kMost; }
  /// Those of `mask` that have no race yet; they have one from now on.
  u8 claim(uptr at, u8 mask) {
    if (at != granule) granule = at, bytes = 0;
    mask &= static_cast<u8>(~bytes);
    bytes |= mask;
    return mask;
  }
  void add(const AccessRecord& record, AccessKind kind, uptr at, u8 mask) {
    mask = claim(at, mask);
    while (mask) {  // one item for each run of bytes
      u32 first = static_cast<u32>(__builtin_ctz(mask));
      u32 size = static_cast<u32>(__builtin_ctz(~(u32{mask} >> first)));
      items[count++] = {record, kind, at + first, size};
      mask &= static_cast<u8>(~(((1u << size) - 1) << first));
    }
  }
};

}  // namespace duress
