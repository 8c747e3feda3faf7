// SPDX-License-Identifier: Apache-2.0
//
// The model `stale`: given a load, which older values are legal, and which one is returned? The runtime calls
// it from its load and store hooks.
//
// Memory itself always holds the newest value: the model sees each store before it happens, and each load
// with what memory holds. It never writes the target's memory.
#pragma once

#include "memory/location_table.h"

namespace duress::memory {

/// What a load returned, for reports.
struct LoadResult {
  u32 pieces = 0;        // how many tearing words it touched
  u32 open = 0;          // how many of these had more than one legal value
  bool stale = false;    // it returned something else than memory holds
  bool forced = false;   // it had to be the newest, for fairness
  bool tracked = false;  // some piece has a history
  u32 run = 0;           // stale loads in a row of the thread there, this one included
  SiteId site{0};        // if stale: of the store that wrote the first stale piece; 0: the initial value
};

/// PJMM, as JUMBLE implements it: see docs/models/stale.md.
/// Threads: one at a time. Controlled mode gives that; on free threads ParallelAdversary holds a lock.
class StaleModel {
 public:
  struct Options {
    LocationTable::Options table;
    /// After this many stale loads in a row of one location by one thread the next returns the newest value;
    /// 0 is unfair: never. Spinning ends then, at the latest, and 16 is far more than a check and a use need.
    u32 fair_after = 16;
  };

  StaleModel(Arena& arena, ClockSource& threads, Options options)
      : table_(arena, threads, options.table), fair_after_(options.fair_after) {}

  /// A plain load. Writes extent.size() bytes to `into`; `memory` is what memory holds, and may be `into`.
  /// `legal` becomes the legal values of its last piece.
  LoadResult load(const Viewer& who, Extent extent, Tracking tracking, const u8* memory, u8* into,
                  Picker& picker, Legal& legal);
  LoadResult load(const Viewer& who, Extent extent, Tracking tracking, const u8* memory, u8* into,
                  Picker& picker) {
    Legal legal;
    return load(who, extent, tracking, memory, into, picker, legal);
  }
  /// A store of any kind and size, atomic ones and memcpy, memset and calloc too; called before it happens.
  /// For what REQUIRES say about epochs see StoreHistory::store().
  /// True if a history has changed.
  bool store(const Viewer& who, Extent extent, Tracking tracking, SiteId site, const u8* before,
             Source value) {
    return table_.store(who, extent, tracking, site, before, value);
  }
  /// The bytes were freed, or their stack frame is gone. True if they had a history.
  bool forget(Extent extent) { return table_.forget(extent); }
  const Statistics& statistics() const { return table_.statistics(); }
  const LocationTable& table() const { return table_; }

  /// Whether a load of the extent could return `value`, each tearing word for itself.
  bool allows(const Viewer& who, Extent extent, const u8* memory, const u8* value);

 private:
  LocationTable table_;
  u32 fair_after_;
};

}  // namespace duress::memory
