// SPDX-License-Identifier: Apache-2.0
//
// The minimiser of failing executions (trail/minimiser.h) for processes that the host starts.
#pragma once

#include <functional>
#include <optional>

#include "exec/plan.h"
#include "trail/minimiser.h"

namespace duress::search {

using Attempt = trail::MinimiserAttempt<exec::Trail>;

/// How that replay went; takes its trail.
Attempt attempt_of(exec::Execution& execution, bool same);

struct Minimised {
  bool confirmed = false;  // the first replay failed in the same way; if not, nothing else was tried
  bool complete = false;   // nothing that is tried makes it smaller; else the budget ended first
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
  Replay replay_;
  u64 most_runs_;
};

}  // namespace duress::search
