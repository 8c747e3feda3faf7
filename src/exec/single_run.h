// SPDX-License-Identifier: Apache-2.0
//
// One execution of a target that is started by itself, without a fork server: what `duress replay` does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/captured.h"
#include "exec/exchange.h"
#include "exec/log_folder.h"
#include "exec/oracle.h"
#include "exec/result.h"

namespace duress::exec {

struct SingleRunOptions {
  std::vector<std::string> target;
  std::string start_in;  // folder to start it in; "": ours
  std::string input;     // file for its standard input; "": /dev/null
  std::string folder;    // to work in
  double run_seconds = 10;
  bool pass_on = true;  // forwards its output to our streams while it runs
};

/// The target gets the same environment as in a search: files for its output (a terminal would change when it
/// writes, and so the schedule), the same input, the same addresses.
class SingleRun {
 public:
  explicit SingleRun(SingleRunOptions options) : options_(std::move(options)) {}

  /// "" or why it cannot be run. Once, before the rest.
  std::string prepare(const Plan& plan);
  /// DURESS_OPTIONS for a program that is started in another way (a debugger) and has to follow the plan.
  std::string runtime_options() const;

  /// For another run of such a program: what the last one left in the record is gone.
  void renew(const Plan& plan) { exchange_->put(plan); }

  /// With its logs. One that was ended from outside is repeated.
  Result run(const Plan& plan, const Oracle& oracle);
  const Captured& captured() const { return captured_; }

 private:
  WorkerProblem run_once(const Plan& plan, Execution& execution);
  void wait_for(pid_t pid, int output, int errors, u64 most_steps, Execution& execution);

  SingleRunOptions options_;
  LogFolder logs_;
  Captured captured_;
  std::unique_ptr<Exchange> exchange_;
};

}  // namespace duress::exec
