// SPDX-License-Identifier: Apache-2.0
//
// `duress doctor PROGRAM`: how executions of a program are performed. A few are, and what they could not do
// is said: whether each needs a process of its own, and why, and what the scheduler does not control.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/stop.h"
#include "collide/unseen_atomics.h"
#include "exec/child.h"
#include "exec/program.h"
#include "exec/run_once.h"
#include "exec/work_folder.h"
#include "exec/worker.h"

namespace duress::cli {
namespace {

constexpr u64 kExecutions = 8;

struct Tried {
  u64 executions = 0, undone = 0;
  u32 threads = 0;
  std::set<std::string> incomplete;
  std::set<std::string> libraries;  // their files
};

void row(const char* mark, const char* what, const std::string& detail) {
  fmt::print("{}  {:<22} {}\n", mark, what, detail);
}

/// False: see the worker's problem.
bool try_program(exec::Worker& worker, Tried& tried) {
  for (; tried.executions < kExecutions; ++tried.executions) {
    exec::Plan plan = exec::random_plan(tried.executions + 1);
    std::optional<exec::Execution> execution = worker.run(plan);
    if (!execution) return false;
    tried.undone += execution->record.rollback == trail::Rollback::kDone ? 1 : 0;
    tried.threads = std::max(tried.threads, execution->record.strands);
    for (const finding::ProcessLog& process : worker.take_logs(*execution).run.processes) {
      tried.incomplete.insert(process.incomplete.begin(), process.incomplete.end());
      for (const finding::ModuleRecord& module : process.modules)
        if (module.path != process.exe) tried.libraries.insert(module.path);
    }
  }
  return true;
}

/// Libraries whose locks are intercepted or order nothing of the program.
bool is_known_library(const std::string& file) {
  static constexpr std::string_view kNames[] = {
      "libc.so",  "libm.so",  "ld-linux", "libstdc++.so", "libc++",     "libgcc_s",   "libpthread.",
      "librt.so", "libdl.so", "libomp",   "linux-vdso",   "libduress_", "libasan.so", "libtsan.so"};
  return std::ranges::any_of(kNames, [&](std::string_view one) { return file.starts_with(one); });
}

void list_unseen_locks(const std::string& program, const std::set<std::string>& libraries) {
  std::vector<std::string> unseen = collide::unseen_atomics(program);
  for (const std::string& function : unseen)
    row("warn", "unseen lock", function + " has atomic instructions and is not instrumented");
  if (!unseen.empty())
    fmt::print("      {:<22} accesses that only they order are reported as races, unconfirmed\n", "");
  for (const std::string& library : libraries) {
    std::string name = std::filesystem::path(library).filename().string();
    if (is_known_library(name)) continue;
    std::vector<std::string> functions = collide::unseen_atomics(library);
    if (!functions.empty())
      row("warn", "unseen lock",
          fmt::format("{}: {} {} atomic instructions and {} not instrumented", name,
                      collide::unseen_text(functions), functions.size() == 1 ? "has" : "have",
                      functions.size() == 1 ? "is" : "are"));
  }
}

}  // namespace

int doctor_program(const std::vector<std::string>& target) {
  std::string problem = exec::program_problem(target[0]);
  if (problem.empty()) problem = not_instrumented_text(target[0]);
  exec::WorkFolder work(DirOptions{}.absolute_dir());
  if (problem.empty()) problem = work.error();
  if (!problem.empty()) {
    say(problem);
    return kExitToolFailed;
  }
  catch_signals();
  exec::WorkerOptions options;
  options.target = target;
  options.folder = work.path() + "/doctor";
  options.rollback_statistics = std::make_shared<exec::RollbackStatistics>();
  exec::Worker worker(options, &stop_asked);
  Tried tried;
  if (!try_program(worker, tried)) {
    say(worker_problem_text(target[0], worker.problem()));
    return kExitToolFailed;
  }
  row("ok  ", "instrumented", target[0]);
  row(tried.threads > 1 ? "ok  " : "warn", "controlled executions",
      fmt::format("{} performed, {} thread{} at most", tried.executions, tried.threads,
                  tried.threads == 1 ? "" : "s"));
  bool rolls_back = tried.undone * 2 > tried.executions;
  row(rolls_back ? "ok  " : "slow", "rollback", options.rollback_statistics->text());
  if (!rolls_back)
    fmt::print(
        "      {:<22} each execution needs a process of its own, which takes about ten times as long\n", "");
  if (std::string warning = options.rollback_statistics->warning(); !warning.empty())
    row("warn", "rollback", warning);
  list_unseen_locks(exec::program_path(target[0]), tried.libraries);
  for (const std::string& what : tried.incomplete) row("warn", "not controlled", what);
  return kExitOk;
}

}  // namespace duress::cli
