// SPDX-License-Identifier: Apache-2.0
//
// Plans for the strategy guided: which switches to try next, from what earlier executions have shown.
//
// A plan is a short list of switches (trail/planned_switch.h). The first is empty: no preemption at all. The
// execution of a plan tells where it could be continued, and each continuation is a plan with one switch
// more. So preemptions are enumerated, fewest first, where a schedule of n steps has n^2 pairs of steps but
// few places. Two things keep it small. An execution with the signature of an earlier one (sched/observer.h)
// is not continued: the same operations read from the same ones. And places stand for their first and last
// visit; visits between count as a switch more, so that they come later.
//
// Not only the shortest plans run: every third execution takes one of any length, and half of them one whose
// beginning has shown a reads-from pair that no execution had shown before.
#pragma once

#include <set>
#include <vector>

#include "trail/planned_switch.h"

namespace duress::search {

/// What an observed execution told.
struct Observation {
  u64 signature = 0;
  std::vector<u32> pairs;                  // who read from whom, hashes
  std::vector<trail::SwitchPoint> points;  // where its plan could be continued
};

class Guide {
 public:
  struct Node {
    u32 parent;      // the plan without its last switch; of the first, itself
    u32 cost;        // switches, and one more for each at a visit that is neither first nor last
    bool promising;  // the parent has shown something new
    bool done;
    trail::PlannedSwitch last;
    bool operator==(const Node&) const = default;
  };

  Guide() { reset(); }
  /// Begins again: the points at which executions can switch are others now.
  void reset();

  /// Up to `count` plans for the next executions, each once. The same until learn() is called.
  std::vector<u32> next(u64 count, u64 seed) const;
  std::vector<trail::PlannedSwitch> plan(u32 node) const;
  /// The plan was executed. `observation` is null if nothing is known of it, `fresh` says that it has shown
  /// a pair for the first time.
  void learn(u32 node, const Observation* observation, bool fresh);

  /// Plans that were not executed, and the fewest switches of one of them.
  struct Untried {
    u64 plans = 0, switches = 0;
  };
  Untried untried() const;
  bool is_full() const { return nodes_.size() >= kMostNodes; }

  // For saving a search.
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::set<u64>& signatures() const { return signatures_; }
  void restore(std::vector<Node> nodes, std::set<u64> signatures);

 private:
  static constexpr u64 kMostNodes = 10'000;
  static constexpr u32 kMostMiddleVisits =
      8;                                  // of a place that is visited more often: the first and the last
  static constexpr u32 kMostTargets = 4;  // of more strands that could run, some

  void add(u32 parent, const trail::SwitchPoint& point, u32 visit, u64 targets, bool promising);

  std::vector<Node> nodes_;  // the first is the empty plan
  std::set<u64> signatures_;
};

}  // namespace duress::search
