// SPDX-License-Identifier: Apache-2.0
//
// Room for the call stacks that hooks keep (DuressFrame), one for each thread: large mappings of which little
// is used. Those of the first threads of a controlled execution are made once and used again.
#pragma once

#include "base/raw.h"
#include "duress/hooks.h"

namespace duress {

/// Threads: only controlled ones find a room kept, one at a time; others have a mapping of their own.
class FrameRooms {
 public:
  static constexpr size_t kBytes = size_t{64} << 20;  // deeper than any stack of 64 MiB can be

  /// Keeps some rooms.
  void reserve() {
    for (; count_ < kMost; ++count_) {
      rooms_[kMost - 1 - count_] = static_cast<DuressFrame*>(map_memory(kBytes));
      if (!rooms_[kMost - 1 - count_]) break;
    }
    keeps_ = count_ == kMost;
    if (!keeps_) count_ = 0;
  }
  /// Null: out of memory.
  DuressFrame* take(size_t bytes) {
    if (bytes == kBytes && count_ > 0) return rooms_[--count_];
    return static_cast<DuressFrame*>(map_memory(bytes));
  }
  void give(DuressFrame* room, size_t bytes) {
    if (keeps_ && bytes == kBytes && count_ < kMost) {
      rooms_[count_++] = room;
    } else {
      unmap_memory(room, bytes);
    }
  }

 private:
  static constexpr int kMost = 36;
  DuressFrame* rooms_[kMost] = {};
  int count_ = 0;
  bool keeps_ = false;
};

FrameRooms& frame_rooms();

}  // namespace duress
