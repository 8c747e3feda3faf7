// SPDX-License-Identifier: Apache-2.0
#include "cli/replay_gdb.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "exec/child.h"
#include "exec/launch.h"
#include "exec/layout.h"
#include "exec/target_start.h"
#include "report/deciding_step.h"
#include "report/interleaving.h"
#include "report/lanes.h"
#include "report/resolved_names.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A word as Python's shlex reads it.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\"'\"'") : std::string(1, c);
  return text + "'";
}

/// Where an execution is worth stopping at, and how it ended.
struct Looked {
  std::optional<report::DecidingStep> step;
  std::string failure;
};

std::string look(const ReplayOptions& options, exec::SingleRun& single, Looked& looked) {
  exec::Oracle oracle(options.oracle, options.target[0]);
  if (std::string error = oracle.load(); !error.empty()) return error;
  exec::Result result = single.run(options.plan, oracle);
  if (!result.usable()) return worker_problem_text(options.target[0], result.why());
  report::ResolvedNames names;
  std::optional<finding::Failure> failure;
  if (result.failure() != nullptr) {
    failure = *result.failure();
    identify(*failure, result.logs(), names);
    looked.failure = names.clean(report::short_text(*failure));
  }
  finding::Lanes lanes = report::lanes_of(result.logs(), result.execution().record, failure, names);
  looked.step = report::deciding_step(result.logs(), lanes);
  return "";
}

/// The variables of a run that stops where `words` say.
Json environment_of(const exec::SingleRun& single, const std::string& stop) {
  Json variables = Json::object();
  for (const auto& [name, value] :
       exec::controlled_variables(single.runtime_options() + ":debugger=1" + stop))
    variables[name] = value;
  return variables;
}

std::string stop_options(const std::string& request, const Looked& looked) {
  if (request == "step" && looked.step)
    return fmt::format(":stop_step={}:stop_strand={}", looked.step->number, looked.step->strand);
  if (request.rfind("switch ", 0) == 0) return ":stop_switch=" + request.substr(7);
  return "";
}

}  // namespace

exec::SingleRun single_run(const ReplayOptions& options, const std::string& folder) {
  exec::SingleRunOptions single;
  single.target = options.target;
  single.start_in = options.folder;
  single.input = options.input;
  single.folder = folder;
  single.run_seconds = options.run_seconds;
  single.pass_on = options.times == 1 && !options.for_gdb;
  return exec::SingleRun(std::move(single));
}

int serve_gdb(ReplayOptions& options, const std::string& folder) {
  exec::SingleRun single = single_run(options, folder);
  options.plan.head.trace = true;
  std::string error = single.prepare(options.plan);
  Looked looked;
  if (error.empty()) error = look(options, single, looked);
  if (!error.empty()) {
    say(error);
    return kExitToolFailed;
  }
  std::error_code ignored;
  Json about = {
      {"target", options.target},
      {"folder", options.folder.empty() ? fs::current_path(ignored).string() : options.folder},
      {"input", options.input.empty() ? "/dev/null" : options.input},
      {"failure", looked.failure},
      {"step", looked.step ? looked.step->text : ""},
  };
  std::cout << about.dump() << std::endl;
  for (std::string request; std::getline(std::cin, request);) {
    single.renew(options.plan);
    std::cout << environment_of(single, stop_options(request, looked)).dump() << std::endl;
  }
  return kExitOk;
}

int replay_in_gdb(const Arguments& arguments, const ReplayOptions& options) {
  if (exec::find_program("gdb").empty()) {
    say("gdb is not installed; install it, or see the execution with --trace");
    return kExitWrongUse;
  }
  std::string command = "duress replay";
  if (!options.input.empty()) command += " --input " + quoted(options.input);
  for (const std::string& word : arguments) {
    if (word != "--gdb") command += " " + quoted(word);
  }
  // What gdb itself adds to the environment would move the program's stack; so would a shell's variables.
  std::vector<std::string> words{
      "gdb", "-q",    "-ex", "source " + exec::layout().prefix + "/share/duress/gdb/duress.py",
      "-ex", command, "-ex", "duress start"};
  exec::LaunchResult result = exec::launch(words, {});
  if (result.start_error != 0) {
    say(fmt::format("cannot start gdb: {}", std::strerror(result.start_error)));
    return kExitToolFailed;
  }
  return kExitOk;
}

}  // namespace duress::cli
