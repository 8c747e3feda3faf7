// SPDX-License-Identifier: Apache-2.0
//
// Happens-before by definition: draw every edge the C++20 standard draws, close transitively, and
// look at every pair of accesses. Slow and obviously right; the judge of every detector.
#pragma once

#include <bitset>
#include <map>
#include <vector>

#include "analysis/testing/trace.h"

namespace duress::testing {

class Reference {
 public:
  static constexpr size_t kMostEvents = 256;  // what comes after an event is four machine words

  /// REQUIRES: at most kMostEvents.
  explicit Reference(const Trace& trace);

  /// Does event a happen before event b? (a < b in the trace)
  bool before(size_t a, size_t b) const { return reach_[a][b]; }
  /// Do two events race on some byte?
  bool races(size_t a, size_t b) const;
  /// For every byte that is in a race: the first event that races on it with an earlier one.
  std::map<u32, size_t> first_races() const;

 private:
  void edge(size_t from, size_t to) { reach_[from][to] = true; }
  void program_order();
  void locks_and_threads();
  void atomics();
  void close();

  const Trace& trace_;
  std::vector<std::bitset<kMostEvents>> reach_;
};

}  // namespace duress::testing
