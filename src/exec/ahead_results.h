// SPDX-License-Identifier: Apache-2.0
//
// Executions that a process has performed before they were asked for (trail/ahead.h), until they are. Each is
// found by its plan alone: an execution is a function of its plan, so it does not matter when it took place.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "exec/plan.h"

namespace duress::exec {

/// Plans that are about to be asked for, at most so many: in that order, or some of them.
using Lookahead = std::function<std::vector<Plan>(std::size_t most)>;

/// Whether the two ask for the same execution.
bool same_plan(const Plan& a, const Plan& b);

/// Threads: one at a time.
class AheadResults {
 public:
  struct Result {
    Plan plan;
    Execution execution;
    bool skips_known = false;  // Request::skip_known held
    bool left_files = false;   // what it printed and logged is where that of the last execution is
  };

  /// Keeps an execution of which there is nothing but the record.
  void add(Plan plan, Execution execution, bool skips_known);
  /// Keeps the last execution that was performed, with its files: until the next one, take() finds it.
  void add_last(Plan plan, Execution execution, bool skips_known) {
    last_ = Result{std::move(plan), std::move(execution), skips_known, true};
  }
  /// Removes the one that left files. False: there is none.
  bool drop_last();
  /// Removes the execution of that plan.
  std::optional<Result> take(const Plan& plan);
  void clear();

  /// Whether more may be kept.
  bool has_room() const { return bytes_ < kMostBytes && results_.size() < kMostResults; }
  bool empty() const { return results_.empty() && !last_; }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 26, kMostResults = 4096;

  std::unordered_multimap<u64, Result> results_;  // by hash of the plan
  std::size_t bytes_ = 0;                         // of results_, roughly
  std::optional<Result> last_;
};

}  // namespace duress::exec
