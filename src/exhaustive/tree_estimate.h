// SPDX-License-Identifier: Apache-2.0
//
// How many executions an exploration will have, judged by those it had. As Knuth's estimate of a search tree
// (1975), but with all of the tree so far instead of random probes: a branch that is not explored is taken to
// have as many executions as the explored ones beside it have on average. The spread: each has at least the
// executions that are pending in it already, and perhaps as many as the largest one beside it.
#pragma once

#include "base/types.h"
#include "exhaustive/execution_trace.h"

namespace duress::exhaustive {

struct Estimate {
  double executions = 0, low = 0, high = 0;

  /// The estimate of a node, from its explored branches, the one that is being explored (`below`, if there is
  /// one), and those that are pending.
  struct Branches {
    double explored = 0;        // executions in those that are explored
    double largest = 0;         // in one of them
    u32 explored_count = 0;     // branches
    u32 pending = 0;            // branches
    double pending_leaves = 0;  // executions that are pending in them
    bool active = false;        // there is one that is being explored
  };
  static Estimate of(const Branches& b, const Estimate& below) {
    const u32 known = b.explored_count + (b.active ? 1 : 0);
    const double mean = known ? (b.explored + below.executions) / known : 1;
    const double most = b.largest > below.high ? b.largest : below.high;
    auto at_least = [&](double leaves) { return leaves > b.pending_leaves ? leaves : b.pending_leaves; };
    return {b.explored + below.executions + at_least(b.pending * mean),
            b.explored + below.low + b.pending_leaves, b.explored + below.high + at_least(b.pending * most)};
  }
};

/// For a depth-first exploration where each execution adds its own branches, which come next.
class TreeEstimate {
 public:
  explicit TreeEstimate(Arena& arena) : levels_(arena) {}

  /// An execution was learned, and has added so many branches. `counts`: it is one of those to be counted.
  void learned(bool counts, u32 branches) {
    if (levels_.size()) --levels_.last().pending;
    levels_.push({counts ? 1.0 : 0.0, 0, 0, 0, branches});
    while (levels_.size() > 1 && levels_.last().pending == 0) {
      const double size = levels_.last().own + levels_.last().explored;
      levels_.cut(levels_.size() - 1);
      Level& parent = levels_.last();
      parent.explored += size;
      if (size > parent.largest) parent.largest = size;
      ++parent.explored_count;
    }
  }

  Estimate estimate() const {
    Estimate below;
    for (u32 i = levels_.size(); i-- > 0;) {
      const Level& level = levels_[i];
      const bool active = i + 1 < levels_.size();
      below = Estimate::of({level.explored, level.largest, level.explored_count, level.pending,
                            static_cast<double>(level.pending), active},
                           below);
      below.executions += level.own;
      below.low += level.own;
      below.high += level.own;
    }
    return below;
  }

 private:
  struct Level {
    double own;  // 1: the execution itself counts
    double explored, largest;
    u32 explored_count, pending;
  };
  List<Level> levels_;
};

}  // namespace duress::exhaustive
