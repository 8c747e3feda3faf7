// SPDX-License-Identifier: Apache-2.0
#include "exec/run_once.h"

#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "exec/exchange.h"
#include "exec/files.h"
#include "exec/log_folder.h"
#include "exec/target_start.h"
#include "finding/log_reader.h"

namespace duress::exec {

OneRunResult run_once(const OneRun& run) {
  OneRunResult result;
  std::string options = "log_dir=" + run.folder + ":" + run.options;
  std::unique_ptr<Exchange> exchange;
  LogFolder logs;
  if (result.problem = logs.make(run.folder); !result.problem.empty()) return result;
  if (run.plan) {
    exchange = Exchange::make(result.problem);
    if (!exchange) return result;
    if (!exchange->put(*run.plan)) {
      result.problem = "the plan is too long";
      return result;
    }
    options += ":mode=controlled:request=" + exchange->request_path() + ":record=" + exchange->record_path();
    // The same addresses in every run, where the system allows it; the target inherits it.
    if (int persona = personality(0xffffffff); persona >= 0)
      personality(static_cast<unsigned long>(persona) | ADDR_NO_RANDOMIZE);
  }
  std::vector<std::pair<std::string, std::string>> variables = controlled_variables(options);
  if (!run.plan) variables = {{"DURESS_OPTIONS", with_user_options(options, /*padded=*/false)}};
  if (!run.preload.empty()) {
    const char* given = std::getenv("LD_PRELOAD");
    std::string others = given != nullptr && *given != '\0' ? ":" + std::string(given) : "";
    variables.emplace_back("LD_PRELOAD", run.preload + others);
  }
  static_cast<LaunchResult&>(result) = launch(run.target, variables);
  if (result.start_error != 0)
    result.problem = "cannot start '" + run.target[0] + "': " + std::strerror(result.start_error);
  if (!result.problem.empty()) return result;
  result.log = finding::read_log_dir(run.folder);
  result.damage = logs.problem(result.log, result);
  if (!exchange) return result;
  Execution execution;
  exchange->take(execution);
  result.outcome = execution.record.outcome;
  execution.pid = result.pid;
  if (result.damage.empty()) result.damage = logs.problem(execution);
  return result;
}

Plan random_plan(u64 seed) {
  Plan plan;
  plan.head.seed = seed;
  plan.head.strategy = StrategyId::kRandom;
  plan.head.detect = trail::Detect::kRaces;
  plan.head.memory = true;
  plan.head.points = trail::Points::kLongRuns;  // a thread that spins on a plain variable must be preempted
  return plan;
}

std::optional<std::string> make_run_folder(const std::string& dir, std::string& error) {
  std::string runs = (std::filesystem::absolute(dir).lexically_normal() / "runs").string();
  error = make_folder(runs, dir);
  if (!error.empty()) return std::nullopt;
  std::time_t now = std::time(nullptr);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", std::localtime(&now));
  std::string first = runs + "/" + stamp + "-" + std::to_string(getpid()), path = first;
  for (int attempt = 1; mkdir(path.c_str(), 0777) != 0; ++attempt) {
    if (errno != EEXIST || attempt == 1000) {
      error = "cannot make the folder '" + path + "': " + std::strerror(errno) + "; give another with --dir";
      return std::nullopt;
    }
    path = first + "-" + std::to_string(attempt);
  }
  return path;
}

}  // namespace duress::exec
