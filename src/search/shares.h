// SPDX-License-Identifier: Apache-2.0
//
// How many of the next runs each strategy gets: half of its share is fixed, the other half goes to those that
// have lately shown most that was new, as reads-from pairs per run (a bandit with a floor). Nothing that a
// run shows says for certain which strategy finds a failure, so none ever gets less than half of its share.
#pragma once

#include <map>
#include <vector>

#include "catalog/strategies.h"

namespace duress::search {

class Shares {
 public:
  /// What a strategy has lately shown. Older rounds count half as much as the one after them.
  struct Arm {
    u64 runs = 0;   // that were observed
    u64 fresh = 0;  // pairs that no run had shown before, in 1/16
    bool operator==(const Arm&) const = default;
  };

  void end_round();
  void note(StrategyId strategy, u64 fresh_pairs);
  /// The strategy of each of `count` runs; the shares are those of `base`, moved towards what is new.
  std::vector<StrategyId> deal(u64 count, u64 seed, const std::map<StrategyId, u32>& base) const;

  const std::map<StrategyId, Arm>& arms() const { return arms_; }
  void restore(std::map<StrategyId, Arm> arms) { arms_ = std::move(arms); }

 private:
  u64 rate_of(StrategyId strategy) const;

  std::map<StrategyId, Arm> arms_;
};

}  // namespace duress::search
