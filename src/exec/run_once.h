// SPDX-License-Identifier: Apache-2.0
//
// One execution of a target on its own streams, with its logs in a folder. The host knows nothing while the
// target runs: it hands over options in the environment and waits. That keeps the target's own streams, exit
// code and speed as they are, and a target that crashes or is killed still leaves what it had found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exec/launch.h"
#include "exec/plan.h"
#include "finding/log_record.h"

namespace duress::exec {

struct OneRun {
  std::vector<std::string> target;
  std::string folder;        // for logs
  std::string options;       // of the runtime, beside the folder
  std::optional<Plan> plan;  // nothing: threads run in parallel
  std::string preload = {};  // library for the program's LD_PRELOAD; "": none
};

struct OneRunResult : LaunchResult {
  std::string problem;  // "": none; else it did not run
  std::string
      damage;  // "": none; else the log is not whole: what is in it has happened, what is not in it may have
  finding::RunLog log;
  trail::Outcome outcome = trail::Outcome::kEnded;  // of a controlled execution
};

OneRunResult run_once(const OneRun& run);

/// One thread at a time, with equal chances, and every race looked for.
Plan random_plan(u64 seed);

/// Makes a folder below `dir` for the logs of a run, which no other run has. Nothing: `error` says why.
std::optional<std::string> make_run_folder(const std::string& dir, std::string& error);

}  // namespace duress::exec
