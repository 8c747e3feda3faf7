// SPDX-License-Identifier: Apache-2.0
//
// Part of Worker: executions that a process performs together with one that was asked for (trail/ahead.h).
// Nothing depends on whether that happens. An execution that left nothing but its record is kept until its
// plan is asked for. The last one that a process has performed may have printed, logged or died: it is kept
// with its files until the next execution takes place, and is performed again if its plan comes later.
// One that had to be ended is performed again in any case: it has not had its time.
#include <signal.h>

#include <algorithm>
#include <utility>

#include "exec/target_start.h"
#include "exec/worker.h"
#include "trail/ahead.h"

namespace duress::exec {

/// Nothing if executions of late were not quiet: one that dies ahead of time, and is not the next that is
/// asked for, costs a process more.
std::vector<Plan> Worker::plans_ahead(const Lookahead& lookahead) {
  constexpr u32 kQuietForEach = 4;
  std::size_t most = std::min(quiet_in_a_row_ / kQuietForEach, trail::Ahead::kMost);
  if (most == 0 || answers_each_ || !ahead_.has_room() || !server_logs_nothing()) return {};
  std::vector<Plan> plans = lookahead(most);
  if (plans.size() > most) plans.resize(most);
  for (Plan& plan : plans) adapt(plan);
  return plans;
}

/// Else its log would have to be read after each execution, and this server performs none ahead.
bool Worker::server_logs_nothing() {
  if (no_logs_of_ == server_.pid()) return true;
  finding::RunLogs logs = logs_.read(kept_);
  bool nothing = logs.run.processes.empty() && logs.run.problems.empty();
  if (nothing) no_logs_of_ = server_.pid();
  answers_each_ = !nothing;
  return nothing;
}

std::optional<Execution> Worker::take_ahead(const Plan& plan) {
  if (ahead_.empty()) return std::nullopt;
  std::optional<AheadResults::Result> result = ahead_.take(plan);
  if (!result) return std::nullopt;
  left_files_ = result->left_files;
  note(result->execution, result->skips_known, /*ahead=*/true);
  return std::move(result->execution);
}

/// Several executions have been performed. Returns the first, keeps the others. `last`: how the last one
/// ended; not `ended`: the server is gone.
std::optional<Execution> Worker::end_ahead(const Plan& plan, std::vector<Plan> plans, bool pays,
                                           Execution last, bool ended) {
  if (!ended && problem_.kind != WorkerProblem::Kind::kNone) return std::nullopt;  // stopped
  const u32 performed = exchange_->performed();
  const double seconds = last.seconds / (performed + 1);
  std::optional<Execution> first;
  for (u32 i = 0; i < performed; ++i) {
    Execution execution;
    execution.pid = last.pid;
    execution.seconds = seconds;
    if (!exchange_->take_ahead(i, i == 0 ? plan : plans[i - 1], execution)) {
      // The program has written over it: one execution at a time shows which.
      quiet_in_a_row_ = 0;
      stop_server();
      return std::nullopt;
    }
    if (i == 0) {
      first = std::move(execution);
    } else {
      bool skips_known = plans[i - 1].head.skip_known && pays;
      ahead_.add(std::move(plans[i - 1]), std::move(execution), skips_known);
    }
  }
  left_files_ = false;
  note(*first, plan.head.skip_known && pays);
  if (!ended || last.timed_out || last.flooded) {
    end_leftovers();
    logs_.clear(server_.pid());
    quiet_in_a_row_ = 0;
    return first;
  }
  last.seconds = seconds;
  exchange_->take(last);
  end_attempt(last);
  Plan& its = plans[performed - 1];
  bool skips_known = its.head.skip_known && pays;
  if (trail::is_quiet(last.record) && last.status == 0) {
    ahead_.add(std::move(its), std::move(last), skips_known);
  } else {
    quiet_in_a_row_ = 0;
    ahead_.add_last(std::move(its), std::move(last), skips_known);
  }
  return first;
}

}  // namespace duress::exec
