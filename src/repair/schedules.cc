// SPDX-License-Identifier: Apache-2.0
#include "repair/schedules.h"

#include <algorithm>
#include <set>

#include "exec/clock.h"
#include "exec/oracle.h"
#include "exec/run_once.h"
#include "exec/worker_pool.h"

namespace duress::repair {
namespace {

constexpr u64 kMostSchedules = 5000, kFewestSchedules = 500;
constexpr u64 kMostSteps = 20'000'000;  // of all schedules together: half a minute

exec::Plan plan_of(u64 seed, u64 index) {
  exec::Plan plan = exec::random_plan(seed * 1'000'003 + index);
  if (index % 2 != 0) plan.head.strategy = StrategyId::kPct;
  plan.head.depth = 1 + static_cast<u32>(index / 2 % 3);
  return plan;
}

/// The races of one execution that are not known yet.
void take_races(const finding::RunLogs& logs, finding::Names& names, std::set<std::string>& known,
                std::vector<verify::RacyExecution>& racy) {
  const finding::ProcessLog* process = logs.process();
  if (process == nullptr) return;
  for (const finding::RaceRecord& record : process->races) {
    if (!known.insert(finding::group_key(names.race(*process, record))).second) continue;
    verify::RacyExecution one;
    one.log = *process;
    one.log.races = {record};
    one.log.crashes.clear();
    racy.push_back(std::move(one));
  }
}

}  // namespace

u64 schedules_for(u64 steps) {
  return std::clamp(kMostSteps / std::max<u64>(steps, 1), kFewestSchedules, kMostSchedules);
}

Schedules run_schedules(const exec::CampaignSetup& setup, u64 seed, u64 runs, bool stops_at_first,
                        finding::Names& names, const std::atomic<bool>& stop) {
  Schedules all;
  exec::Oracle oracle(setup.oracle, setup.worker.target[0]);
  if (!oracle.load().empty()) return all;
  exec::WorkerOptions options = setup.worker;
  options.folder += "/schedules";
  exec::WorkerPool pool(options, setup.jobs);
  std::vector<finding::RunLogs> logs(runs);  // of those with races
  std::atomic<u64> done{0}, failed{0}, found{0};
  auto job = [&](u64 i, exec::Worker& worker) {
    exec::Result result = pool.execute(worker, plan_of(seed, i), oracle, exec::Logs::kAll);
    if (!result.usable()) return false;
    ++done;
    if (result.failure() != nullptr) ++failed, ++found;
    const finding::ProcessLog* process = result.logs().process();
    if (process == nullptr || process->races.empty()) return true;
    logs[i] = std::move(result.logs());
    ++found;
    return true;
  };
  bool enough = false;
  all.done = pool.run(runs, job, [&] {
    enough = stops_at_first && found != 0;
    return !stop && !enough && (setup.deadline == 0 || exec::now() < setup.deadline);
  });
  all.runs = done;
  all.failed = failed;
  std::set<std::string> known;
  for (const finding::RunLogs& one : logs) take_races(one, names, known, all.racy);
  return all;
}

}  // namespace duress::repair
