// SPDX-License-Identifier: Apache-2.0
#include "classify/find.h"

#include <algorithm>

#include "base/prng.h"
#include "catalog/analyses.h"
#include "trail/site_key.h"

namespace duress::classify {

/// What one run showed.
struct RaceFinder::Seen {
  finding::RunLogs logs;
  Trial trial;
  u32 strands = 0;
  u64 long_runs = 0;
  u64 output = 0;
};

bool has_analysis(const std::string& name) {
  return id_of<AnalysisId>(name.c_str()).has_value();
}

bool RaceFinder::run(exec::WorkerPool& pool, const std::string& analysis, u64 runs,
                     const exec::WorkerPool::Tick& tick) {
  std::vector<Seen> seen(runs);
  std::mutex names_lock;
  auto job = [&](u64 i, exec::Worker& worker) {
    exec::Plan plan;
    plan.head.seed = mix(options_.seed * 0x9e3779b97f4a7c15u + i);
    plan.head.strategy = i % 2 ? StrategyId::kPct : StrategyId::kRandom;
    plan.head.depth = 1 + static_cast<u32>(i / 2 % 3);
    plan.head.detect = trail::Detect::kRaces;
    plan.head.memory = true;
    plan.head.points = trail::Points::kLongRuns;
    exec::Result result = pool.execute(worker, plan, oracle_, exec::Logs::kAll);
    if (!result.usable()) return false;
    Seen& one = seen[i];
    const exec::Execution& execution = result.execution();
    one.logs = std::move(result.logs());
    one.trial = trial_of(execution);
    one.strands = execution.record.strands;
    one.long_runs = execution.record.long_runs;
    one.output = execution.output_bytes + execution.error_bytes;
    if (result.failure() != nullptr) {
      std::lock_guard guard(names_lock);
      finding::identify(*result.failure(), one.logs, names_);
      one.trial.outcome = TrialOutcome::kFailed;
      one.trial.failure = std::move(*result.failure());
    }
    Attack attack;
    attack.strategy = plan.head.strategy;
    record_.add({"find", "", attack, i, plan.head.seed, analysis}, one.trial);
    return true;
  };
  if (!pool.run(runs, job, tick)) return false;
  for (const Seen& one : seen) {
    ++found_.runs;
    if (one.trial.failed() && found_.failed++ == 0) found_.failure = one.trial.failure;
    if (one.strands > 1) found_.one_thread = false;
    if (one.long_runs != 0) found_.long_runs = true;
    found_.most_output = std::max(found_.most_output, one.output);
    take(one.logs);
  }
  return true;
}

/// An access without a site table (docs/manual/gcc.md).
static bool is_code(const finding::AccessRecord& access) {
  return access.site && trail::is_code_site(access.site->index);
}

void RaceFinder::take(const finding::RunLogs& logs) {
  std::map<std::pair<int, u32>, u32> keys;
  for (const finding::SiteKey& known : logs.keys) keys[{known.site.module, known.site.index}] = known.key;
  auto key_of = [&](const finding::AccessRecord& access) -> u32 {
    if (!access.site) return 0;
    auto it = keys.find({access.site->module, access.site->index});
    return it == keys.end() ? 0 : it->second;
  };
  for (const finding::ProcessLog& logged : logs.run.processes) {
    found_.incomplete.insert(logged.incomplete.begin(), logged.incomplete.end());
    finding::ProcessLog process = logged;
    // Potential races count as races until it is known whether they can be brought about.
    process.races.insert(process.races.end(), process.potentials.begin(), process.potentials.end());
    process.potentials.clear();
    if (process.races.empty()) continue;
    found_.log.processes.push_back(process);
    // Keys are those of the process that the execution was; others' races are reported, not attacked.
    if (&logged != logs.process()) continue;
    for (const finding::RaceRecord& record : process.races) {
      u32 first = key_of(record.prev), second = key_of(record.cur);
      if (first == 0 && second == 0) continue;
      finding::Race race = names_.race(process, record);
      Variable& variable = found_.variables[race.variable];
      variable.name = race.variable;
      std::set<KeyPair>& pairs = variable.races[finding::group_key(race)];
      // A library's access or a free has no site: it cannot be waited for, but the other one can be attacked.
      if (first != 0 && second != 0) {
        pairs.insert(std::minmax(first, second));
        variable.pairs.insert(std::minmax(first, second));
      }
      for (u32 key : {first, second}) {
        if (key != 0) variable.sites.insert(key);
      }
      for (const finding::AccessReport& side : race.sites) {
        variable.freed = variable.freed || side.access == finding::Access::kFree;
      }
      if (!is_code(record.prev) && !is_code(record.cur)) continue;
      variable.fixed_values = true;
      found_.incomplete.insert(
          "a race in code that another compiler built with -fsanitize=thread: values cannot be replaced "
          "there, "
          "only schedules are tried");
    }
  }
}

void RaceFinder::drop_unconfirmed() {
  std::set<std::string> precise;  // group keys
  std::map<std::string, bool> confirmed;
  for (const auto& [name, variable] : found_.variables) {
    for (const auto& [key, pairs] : variable.races) {
      for (const KeyPair& pair : pairs)
        confirmed[key] = confirmed[key] || variable.confirmed_pairs.count(pair) != 0;
    }
  }
  auto key_of = [&](const finding::ProcessLog& process, const finding::RaceRecord& record) {
    return finding::group_key(names_.race(process, record));
  };
  bool any = false;
  for (const finding::ProcessLog& process : found_.log.processes) {
    for (const finding::RaceRecord& record : process.races) {
      if (record.analysis != kHybrid)
        precise.insert(key_of(process, record));
      else
        any = true;
    }
  }
  for (auto& [name, variable] : found_.variables) variable.only_one = found_.variables.size() == 1;
  if (!any) return;
  std::set<std::string> dropped;
  for (finding::ProcessLog& process : found_.log.processes) {
    std::erase_if(process.races, [&](const finding::RaceRecord& record) {
      std::string key = key_of(process, record);
      if (record.analysis != kHybrid || precise.count(key) != 0 || confirmed[key]) return false;
      dropped.insert(key);
      return true;
    });
  }
  for (auto variable = found_.variables.begin(); variable != found_.variables.end();) {
    Variable& one = variable->second;
    bool less = false;
    for (const std::string& key : dropped) less = one.races.erase(key) != 0 || less;
    if (less) {
      one.pairs.clear();
      for (const auto& [key, pairs] : one.races) one.pairs.insert(pairs.begin(), pairs.end());
    }
    variable = one.races.empty() ? found_.variables.erase(variable) : std::next(variable);
  }
}

}  // namespace duress::classify
