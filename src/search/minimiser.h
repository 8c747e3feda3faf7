// SPDX-License-Identifier: Apache-2.0
//
// A failing execution with as few switches as can be found: what a person has to read.
#ifndef DURESS_SEARCH_MINIMISER_H_
#define DURESS_SEARCH_MINIMISER_H_

#include <functional>
#include <optional>

#include "exec/plan.h"

namespace duress::search {

/// How an execution went that followed a trail.
struct Attempt {
  bool same = false;  // it failed in the same way
  exec::Trail trail;  // what it really chose
  u64 switches = 0;   // preemptions in it
  u64 choices = 0;    // how many there were
  u32 strands = 0;
};

struct Minimised {
  bool confirmed = false;  // the first replay failed in the same way; if not, nothing else was tried
  bool complete = false;   // nothing that is tried makes it less; else the budget ended first
  exec::Trail trail;
  u64 switches = 0;
  u64 runs = 0;
};

class Minimiser {
 public:
  /// Replays a trail. Nothing: stop now (interrupted, or the target cannot be run any more).
  using Replay = std::function<std::optional<Attempt>(const exec::Trail&)>;

  explicit Minimiser(Replay replay, u64 most_runs = 1000)
      : replay_(std::move(replay)), most_runs_(most_runs) {}

  Minimised run(const exec::Trail& failing);

 private:
  /// Whether `candidate` fails in the same way with less; takes what it really chose if so.
  bool better(const exec::Trail& candidate);
  bool ended() const { return stopped_ || best_.runs >= most_runs_; }
  /// ddmin: leaves out ever smaller pieces.
  void reduce();
  /// Leaves out single deviations, and neighbours, until none can be.
  void polish();
  /// Looks for another way to fail with fewer switches: the first few deviations and one new one. Returns
  /// whether there is one.
  bool replace();

  Replay replay_;
  u64 most_runs_;
  bool stopped_ = false;
  Minimised best_;
  u64 choices_ = 0;  // of the best execution
  u32 strands_ = 0;
};

}  // namespace duress::search

#endif  // DURESS_SEARCH_MINIMISER_H_
