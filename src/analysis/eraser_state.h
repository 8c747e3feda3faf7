// SPDX-License-Identifier: Apache-2.0
//
// Eraser's state machine for one location. A location is virgin, then exclusive to its first thread, whose
// accesses do not count: that is initialisation. The second thread makes it shared (it reads) or
// shared-modified (it writes); from then on the candidate set, the locks that protected every access, is
// refined. With an empty set and a write there is no discipline, and perhaps a race.
#pragma once

#include "analysis/access_note.h"
#include "clock/lock_set.h"

namespace duress {

struct EraserState {
  enum class Stage : u8 { kVirgin, kExclusive, kShared, kSharedModified };

  Stage stage = Stage::kVirgin;
  LockSetId candidates{};
  AccessNote last = {};   // the last access
  AccessNote other = {};  // the last access of a thread other than `last`'s

  /// An access. True if no lock protects the location.
  bool refine(LockSets& lock_sets, const AccessNote& note) {
    bool write = is_write(note.kind);
    switch (stage) {
      case Stage::kVirgin:
        stage = Stage::kExclusive;
        break;
      case Stage::kExclusive:
        if (last.thread == note.thread) break;
        stage = write ? Stage::kSharedModified : Stage::kShared;
        candidates = lock_sets.protecting(note.locks, write);
        break;
      case Stage::kShared:
        if (write) stage = Stage::kSharedModified;
        [[fallthrough]];
      case Stage::kSharedModified:
        candidates = lock_sets.refine(candidates, note.locks, write);
        break;
    }
    if (stage != Stage::kVirgin && last.thread != note.thread) other = last;
    last = note;
    return stage == Stage::kSharedModified && candidates == LockSetId{0};
  }
};

}  // namespace duress
