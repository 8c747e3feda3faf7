// SPDX-License-Identifier: Apache-2.0
#include "classify/trial_runner.h"

#include <algorithm>

#include "base/hash.h"
#include "base/prng.h"
#include "exec/files.h"

namespace duress::classify {
namespace {

/// Other schedules: each strategy in turn, pct with growing depth.
constexpr StrategyId kExtraSchedules[] = {StrategyId::kRandom, StrategyId::kPct, StrategyId::kRacefuzzer,
                                          StrategyId::kPos};

}  // namespace

std::string plan_text(const exec::Plan& plan) {
  const trail::Request& head = plan.head;
  std::string text;
  for (u64 number : {u64{raw(head.strategy)}, u64{head.depth}, head.most_steps, u64{raw(head.model)},
                     u64{raw(head.heuristic)}, u64{head.fair_after}, head.expected_choices, u64{head.tear},
                     u64{raw(head.points)}, u64{head.sample}})
    text += std::to_string(number) + " ";
  for (u32 site : plan.sites) text += std::to_string(site) + " ";
  for (u32 site : plan.wait_sites) text += "w" + std::to_string(site) + " ";
  for (const trail::SitePair& pair : plan.pairs)
    text += std::to_string(pair.first) + "-" + std::to_string(pair.second) + " ";
  char hash[24];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(hash_of(text)));
  return hash;
}

exec::Plan TrialRunner::plan(const Variable& variable, const Attack& attack, u64 number) const {
  exec::Plan plan;
  attack.apply(plan);
  plan.head.seed = mix(options_.seed * 0x632be59bd9b4e019u + number);
  plan.head.tear = options_.tear;
  plan.head.sample = true;
  if (attack.model != ModelId::kSc) plan.head.most_steps = variable.most_steps;
  if (attack.strategy == StrategyId::kPct) {
    plan.head.depth = 2 + static_cast<u32>(number % 2);  // one or two preemptions
    plan.head.expected_choices = variable.usual_steps;
  }
  if (attack.switched) plan.sites.assign(variable.sites.begin(), variable.sites.end());
  for (u32 site : waits_) {
    if (std::find(plan.sites.begin(), plan.sites.end(), site) == plan.sites.end())
      plan.wait_sites.push_back(site);
  }
  if (attack.strategy == StrategyId::kRacefuzzer) {
    plan.head.sample = false;  // it targets one pair, wherever that is
    for (const auto& [first, second] : variable.pairs) plan.pairs.push_back({first, second});
  }
  return plan;
}

exec::Plan TrialRunner::wider_plan(const Variable& variable, u64 number) const {
  Attack attack;
  attack.strategy = kExtraSchedules[number % std::size(kExtraSchedules)];
  exec::Plan extra = plan(variable, attack, number);
  extra.head.seed = mix(options_.seed * 0xd6e8feb86659fd93u + number);
  extra.head.depth = 1 + static_cast<u32>(number / std::size(kExtraSchedules) % 3);
  return extra;
}

exec::Result TrialRunner::run_identified(exec::WorkerPool& pool, exec::Worker& worker, const exec::Plan& plan,
                                         exec::Logs logs) {
  exec::Result result = pool.execute(worker, plan, oracle_, logs);
  if (result.usable() && result.failure() != nullptr) {
    std::lock_guard guard(names_lock_);
    finding::identify(*result.failure(), result.logs(), names_);
  }
  return result;
}

u64 TrialRunner::output_of(const exec::Worker& worker) const {
  return options_.compare_output ? exec::hash_of_file(worker.captured().output) : 0;
}

Trial TrialRunner::finish(exec::Worker& worker, exec::Result& result) {
  Trial trial = trial_of(result.execution());
  if (result.execution().record.unvalidated != 0) {
    trial.outcome = TrialOutcome::kDiscarded;
  } else if (result.failure() != nullptr) {
    trial.outcome = TrialOutcome::kFailed;
    trial.failure = std::move(*result.failure());
  } else {
    trial.output = output_of(worker);
  }
  return trial;
}

std::optional<Profile> TrialRunner::profile(exec::WorkerPool& pool, exec::Worker& worker,
                                            const Variable& variable, StrategyId strategy, u64 number) {
  Attack attack;
  attack.model = ModelId::kFuture;
  attack.strategy = strategy;
  exec::Plan wanted = plan(variable, attack, number);
  wanted.head.profile_futures = true;
  std::optional<exec::Execution> execution = pool.execute(worker, wanted);
  if (!execution) return std::nullopt;
  worker.drop_logs(*execution);
  return std::move(execution->future_values);
}

std::optional<Trial> TrialRunner::run(exec::WorkerPool& pool, exec::Worker& worker, const Variable& variable,
                                      const Attack& attack, u64 number, std::optional<Profile>& profile) {
  exec::Plan wanted = plan(variable, attack, number);
  TrialName name{"attack", variable.name, attack, number, wanted.head.seed, plan_text(wanted)};
  ++done_;
  if (std::optional<Trial> known = record_.find(name)) return known;
  if (attack.predicts()) {
    if (!profile) profile = this->profile(pool, worker, variable, attack.strategy, number);
    if (!profile) return std::nullopt;
    wanted.predictions = predict(attack.policy, *profile, number, wanted.head.seed);
  }
  Trial trial;
  if (attack.predicts() && wanted.predictions.empty()) {
    trial.outcome = TrialOutcome::kNothing;
  } else {
    exec::Result result = run_identified(pool, worker, wanted);
    if (!result.usable()) return std::nullopt;
    trial = finish(worker, result);
  }
  record_.add(name, trial);
  return trial;
}

std::optional<Trial> TrialRunner::find_or_run(exec::WorkerPool& pool, exec::Worker& worker,
                                              const TrialName& name, const exec::Plan& plan) {
  ++done_;
  if (std::optional<Trial> known = record_.find(name)) return known;
  exec::Result result = run_identified(pool, worker, plan);
  if (!result.usable()) return std::nullopt;
  Trial trial = finish(worker, result);
  record_.add(name, trial);
  return trial;
}

std::optional<Trial> TrialRunner::run_prediction(exec::WorkerPool& pool, exec::Worker& worker,
                                                 const Variable& variable, const Attack& attack, u64 number,
                                                 const trail::Prediction& prediction) {
  exec::Plan wanted = plan(variable, attack, number);
  std::string context = plan_text(wanted);
  for (u64 part : {u64{prediction.strand}, u64{prediction.site}, u64{prediction.ordinal}, prediction.value[0],
                   prediction.value[1]})
    context += " " + std::to_string(part);
  wanted.predictions = {prediction};
  return find_or_run(pool, worker, {"predict", variable.name, attack, number, wanted.head.seed, context},
                     wanted);
}

std::optional<Trial> TrialRunner::run_extra_schedule(exec::WorkerPool& pool, exec::Worker& worker,
                                                     const Variable& variable, u64 number) {
  exec::Plan wanted = wider_plan(variable, number);
  Attack attack;
  attack.strategy = wanted.head.strategy;
  return find_or_run(pool, worker,
                     {"widen", variable.name, attack, number, wanted.head.seed, plan_text(wanted)}, wanted);
}

}  // namespace duress::classify
