// SPDX-License-Identifier: Apache-2.0
//
// A random number for every place in the program that an execution comes to: the same for all strands there.
// Drawn when the place is first seen, so nothing depends on where the program was loaded.
#pragma once

#include "event/operation.h"
#include "sched/strategy.h"

namespace duress::sched {

class PlaceTable {
 public:
  /// Forgets all places. Touches no entry: an execution pays for the places that it comes to.
  void start(u64 seed) {
    prng_ = Prng(seed);
    ++execution_;
    used_ = 0;
  }

  /// The number of the place where the operation is performed.
  u64& of(const Operation& operation) {
    u64 place = operation.place ^ u64 { raw(operation.kind) } << 56;
    u64 at = mix(place) % kSize;
    for (; entries_[at].execution == execution_; at = (at + 1) % kSize) {
      if (entries_[at].place == place || used_ >= kMost) return entries_[at].number;
    }
    ++used_;
    entries_[at] = {place, execution_, prng_.next()};
    return entries_[at].number;
  }

 private:
  static constexpr u64 kSize = 2048;
  static constexpr u64 kMost = kSize / 2;  // of more places, some share a number

  struct Entry {
    u64 place, execution, number;
  };
  Entry entries_[kSize] = {};
  u64 execution_ = 0;
  u64 used_ = 0;
  Prng prng_{0};
};

}  // namespace duress::sched
