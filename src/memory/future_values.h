// SPDX-License-Identifier: Apache-2.0
//
// Values of the future, as prescient memory has them (sections 5 and 6 of the paper). A profile of a
// sequentially consistent run says which loads could have returned what was stored later: R_x and G_l of the
// paper's algorithms 8 and 9. A later run returns such a value at once and remembers it as an unvalidated
// prediction: S_x of algorithms 4 and 5. A concurrent store of the value validates it; an execution that ends
// with unvalidated predictions is discarded.
//
// Happens-before is decided by the load's epoch alone: a store is concurrent with an earlier load
// unless the storing thread knows that epoch.
#pragma once

#include "memory/location_table.h"
#include "trail/execution.h"

namespace duress::memory {

/// The paper's l: which load of which thread.
struct DynamicLocation {
  u32 strand, site, ordinal;
  bool operator==(const DynamicLocation&) const = default;
};

/// Numbers the loads of each strand at each site, from 1.
class LoadCounter {
 public:
  explicit LoadCounter(Arena& arena) : arena_(arena) {}
  LoadCounter(const LoadCounter&) = delete;
  LoadCounter& operator=(const LoadCounter&) = delete;

  u32 next(u32 strand, u32 site);

 private:
  struct Count {
    u32 strand, site, count;
    Count* next;
  };
  static constexpr u32 kBuckets = 256;

  Arena& arena_;
  Count* buckets_[kBuckets] = {};
};

/// R_x and G_l: which loads could return values that are stored later. Returns none itself.
/// Invariant: `out` lists loads in the order in which they ran; the values of one load follow each other.
class FutureProfile {
 public:
  /// The last loads of a location that are remembered: the paper bounds them too.
  static constexpr u32 kMostReads = 64;

  FutureProfile(Arena& arena, trail::Prediction* out, u64 most, u64* count)
      : arena_(arena), out_(out), most_(most), count_(count) {}
  FutureProfile(const FutureProfile&) = delete;
  FutureProfile& operator=(const FutureProfile&) = delete;

  /// PM-profiler, LOAD. `visible`: what it could have returned; only the first few are remembered.
  void load(const Viewer& who, const DynamicLocation& where, Extent extent, const u128* visible, u32 count);
  /// PM-profiler, STORE.
  void store(const Viewer& who, Extent extent, Source value);
  void forget(Extent extent);

 private:
  static constexpr u32 kMostVisible = 4;
  struct Read {
    u64 order;
    DynamicLocation where;
    Clock clock;
    Slot slot;
    u8 visible_count;
    u128 visible[kMostVisible];
  };
  struct Reads {  // of one extent: a ring
    Extent extent;
    Reads* next;
    u32 count, at;
    Read ring[kMostReads];
  };
  static constexpr u32 kBuckets = 1024;

  Reads** find(Extent extent);
  void promise(const Read& read, Extent extent, u128 value);

  Arena& arena_;
  trail::Prediction* out_;
  u64 most_;
  u64* count_;
  u64* orders_ = nullptr;  // of the loads in out_
  u64 loads_ = 0;
  uptr begin_ = ~uptr{0}, end_ = 0;  // all remembered locations lie in it
  Reads* buckets_[kBuckets] = {};
};

/// S_x: values that loads returned before any thread stored them.
class SpeculativeReads {
 public:
  static constexpr u32 kMost = 256;

  /// LOAD, line 4. False: there are too many already; the load must not speculate.
  bool add(const Viewer& who, Extent extent, u128 value);
  /// STORE, lines 2 to 4: removes those that this store validates.
  void store(const Viewer& who, Extent extent, Source value);
  /// EARLY VALIDATION: true if one of them happens before everything that any thread still does.
  bool hopeless(ClockSource& threads) const;
  u32 count() const { return count_; }

 private:
  struct Unvalidated {
    Extent extent;
    u128 value;
    Clock clock;
    Slot slot;
  };

  Unvalidated unvalidated_[kMost];
  u32 count_ = 0;
};

/// The predictions of a request, by dynamic location.
class Predictions {
 public:
  Predictions(Arena& arena, const trail::Prediction* list, u32 count);
  Predictions(const Predictions&) = delete;
  Predictions& operator=(const Predictions&) = delete;
  const trail::Prediction* find(const DynamicLocation& where) const;

 private:
  u64 slots_ = 0;  // a power of two; 0: none
  const trail::Prediction** table_ = nullptr;
};

}  // namespace duress::memory
