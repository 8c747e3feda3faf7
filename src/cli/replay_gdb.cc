// SPDX-License-Identifier: Apache-2.0
#include "cli/replay_gdb.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "exec/child.h"
#include "exec/launch.h"
#include "exec/target_start.h"

namespace duress::cli {

namespace fs = std::filesystem;

exec::SingleRun single_run(const ReplayOptions& options, const std::string& folder) {
  exec::SingleRunOptions single;
  single.target = options.target;
  single.start_in = options.folder;
  single.input = options.input;
  single.folder = folder;
  single.run_seconds = options.run_seconds;
  single.pass_on = options.times == 1;
  return exec::SingleRun(std::move(single));
}

int replay_in_gdb(const ReplayOptions& options, const std::string& folder) {
  if (exec::find_program("gdb").empty()) {
    say("gdb is not installed; install it, or see the execution with --trace");
    return kExitWrongUse;
  }
  exec::SingleRun single = single_run(options, folder);
  if (std::string error = single.prepare(options.plan); !error.empty()) {
    say(error);
    return kExitToolFailed;
  }
  if (!options.folder.empty()) {
    std::error_code code;
    fs::current_path(options.folder, code);
    if (code) {
      say(fmt::format("cannot go to '{}': {}", options.folder, code.message()));
      return kExitToolFailed;
    }
  }
  // What gdb itself adds to the environment would move the program's stack. Failures that are no signals (a
  // deadlock, an exit code) end the process by exit_group, with every thread still where it was.
  std::vector<std::string> words{"gdb",   "-q",
                                 "-ex",   "unset environment LINES",
                                 "-ex",   "unset environment COLUMNS",
                                 "-ex",   "catch syscall exit_group",
                                 "-ex",   "run < " + (options.input.empty() ? "/dev/null" : options.input),
                                 "--args"};
  words.insert(words.end(), options.target.begin(), options.target.end());
  say("gdb stops at the failure; 'info threads' lists the threads, 'thread apply all bt' their stacks, "
      "'quit' ends");
  exec::LaunchResult result = exec::launch(words, exec::controlled_variables(single.runtime_options()));
  if (result.start_error != 0) {
    say(fmt::format("cannot start gdb: {}", std::strerror(result.start_error)));
    return kExitToolFailed;
  }
  return kExitOk;
}

}  // namespace duress::cli
