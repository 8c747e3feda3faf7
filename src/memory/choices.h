// SPDX-License-Identifier: Apache-2.0
//
// A load with several legal values is a choice: the model lists the values, its caller picks one.
// Every pick goes through a Picker, so that it can be recorded in a trail and made again. Number 0 is the
// newest value, so a trail without choices of values is sequentially consistent.
#pragma once

#include "base/types.h"

namespace duress::memory {

/// One value that a load, or a piece of it, may return.
struct LegalValue {
  u128 value;
  SiteId site;        // of the newest store that wrote it; 0: it was there when tracking began
  u16 age;            // of its oldest visible occurrence, 0 is the newest. Says how values are ordered
  bool same_as_last;  // the last read of these bytes, by whatever thread, returned it
  // rc11: a seq_cst operation would come before one that was executed before it. Mostly another schedule
  // does the same.
  bool reversed;
};

/// The set Vis of the paper: distinct values, the newest first. Invariant: count >= 1.
struct Legal {
  static constexpr u32 kMost = 64;

  uptr address;  // of the piece
  u32 size;
  u32 count = 0;
  LegalValue values[kMost];
};

/// Where random numbers come from: a strategy's generator, or a trail.
class Chooser {
 public:
  /// In [0, count). REQUIRES: count > 1.
  virtual u32 choose(u32 count) = 0;

 protected:
  ~Chooser() = default;
};

/// Picks one of several legal values: a heuristic, or a trail that is replayed.
class Picker {
 public:
  /// An index of legal.values. Only asked when there is more than one.
  /// REQUIRES: lets no other thread of the target run; the model is in the middle of the load.
  virtual u32 pick(const Legal& legal) = 0;

 protected:
  ~Picker() = default;
};

}  // namespace duress::memory
