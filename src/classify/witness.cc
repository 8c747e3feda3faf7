// SPDX-License-Identifier: Apache-2.0
//
// Minimising is the exact counterfactual: a minimal witness that still has replaced values passes without
// them.
#include "classify/witness.h"

#include <algorithm>

#include "report/interleaving.h"

namespace duress::classify {
namespace {

constexpr u64 kMinimiseRuns = 200, kLeastMinimiseRuns = 25;
constexpr u64 kMinimiseSteps =
    500'000;  // of all its runs together: those that do not end have 20,000 steps each
constexpr u64 kPredictionRuns = 100;
constexpr u64 kMostTraced = 20000;  // steps: nobody reads a longer trace, and it takes seconds to write

exec::Trail thread_choices(const exec::Trail& trail) {
  exec::Trail rest;
  for (const trail::Deviation& deviation : trail) {
    if (deviation.kind() == trail::ChoiceKind::kThread) rest.push_back(deviation);
  }
  return rest;
}

}  // namespace

WitnessExaminer::WitnessExaminer(TrialRunner& trials, CampaignRecord& record, exec::WorkerPool& pool,
                                 exec::Worker& worker, const Variable& variable)
    : trials_(trials), record_(record), pool_(pool), worker_(worker), variable_(variable) {}

std::optional<WitnessExaminer::Run> WitnessExaminer::run(const exec::Plan& plan) {
  // Of an execution that printed something wrong the trace is wanted too.
  exec::Logs logs = plan.head.trace ? exec::Logs::kAll : exec::Logs::kOfFailures;
  exec::Result result = trials_.run_identified(pool_, worker_, plan, logs);
  if (!result.usable()) return std::nullopt;
  ++witness_.executions;
  Run run;
  if (result.execution().record.unvalidated == 0) {
    if (result.failure() != nullptr) run.failure = std::move(*result.failure());
    bool output = !run.failure && candidate_.failure.kind == "output" &&
                  trials_.output_of(worker_) == candidate_.output;
    if (output) run.failure = candidate_.failure;
    if (run.failure) run.logs = std::move(result.logs());
    run.same = run.failure && same_failure(candidate_.failure, *run.failure);
  }
  run.execution = std::move(result.execution());
  return run;
}

std::optional<bool> WitnessExaminer::needs_no_value() {
  exec::Plan bare = witness_.plan.replaying(thread_choices(witness_.trail));
  bare.predictions.clear();
  std::optional<Run> without = run(bare);
  if (!without) return std::nullopt;
  return without->same;
}

bool WitnessExaminer::minimise_trail() {
  auto replay = [&](const exec::Trail& trail) -> std::optional<search::Attempt> {
    std::optional<Run> again = run(witness_.plan.replaying(trail));
    if (!again) return std::nullopt;
    return search::attempt_of(again->execution, again->same);
  };
  bool stopped = false;
  auto watched = [&](const exec::Trail& trail) {
    std::optional<search::Attempt> attempt = replay(trail);
    stopped = stopped || !attempt;
    return attempt;
  };
  u64 runs = std::clamp(kMinimiseSteps / std::max<u64>(1, steps_), kLeastMinimiseRuns, kMinimiseRuns);
  search::Minimised small = search::Minimiser(watched, runs).run(witness_.trail);
  if (stopped) return false;
  if (small.confirmed) witness_.trail = small.trail;
  return true;
}

bool WitnessExaminer::minimise_predictions() {
  u64 runs = 0;
  for (std::size_t size = std::max<std::size_t>(1, witness_.plan.predictions.size() / 2);
       runs < kPredictionRuns;) {
    bool fewer = false;
    for (std::size_t end = witness_.plan.predictions.size(); end > 0 && runs < kPredictionRuns;) {
      std::size_t begin = end - std::min(end, size);
      exec::Plan plan = witness_.plan;
      plan.predictions.erase(plan.predictions.begin() + static_cast<std::ptrdiff_t>(begin),
                             plan.predictions.begin() + static_cast<std::ptrdiff_t>(end));
      end = begin;
      std::optional<Run> again = run(plan.replaying(witness_.trail));
      if (!again) return false;
      ++runs;
      if (!again->same) continue;
      witness_.plan = std::move(plan);
      witness_.trail = std::move(again->execution.trail);
      fewer = true;
    }
    if (size == 1 && !fewer) break;
    size = std::max<std::size_t>(1, size / 2);
  }
  return true;
}

bool WitnessExaminer::confirm() {
  for (u64 i = 0; i < kReplays; ++i) {
    std::optional<Run> again = run(witness_.plan.replaying(witness_.trail));
    if (!again) return false;
    ++witness_.replays;
    witness_.replayed += again->same;
    if (i != 0 || !again->same) continue;
    const trail::Record& record = again->execution.record;
    witness_.failure = *again->failure;
    witness_.switches = record.switches;
    witness_.values = record.stale_loads + record.future_loads;
    witness_.replaced.assign(
        record.first_replaced,
        record.first_replaced + std::min<u64>(record.replaced, trail::Record::kMostReplaced));
  }
  return true;
}

bool WitnessExaminer::show() {
  exec::Plan plan = witness_.plan.replaying(witness_.trail);
  plan.head.trace = true;
  std::optional<Run> traced = run(plan);
  if (!traced) return false;
  if (!traced->same) return true;
  std::lock_guard guard(trials_.names_lock());
  witness_.interleaving =
      report::interleaving(traced->logs, traced->execution.record, *traced->failure, trials_.names());
  return true;
}

std::optional<Witness> WitnessExaminer::examine(const Candidate& candidate) {
  candidate_ = candidate;
  exec::Plan plan = trials_.plan(variable_, candidate.attack, candidate.trial);
  std::string name = "witness " + variable_.name + '\1' + candidate.attack.label() + '\1' +
                     std::to_string(candidate.trial) + '\1' + candidate.failure.id + '\1' + plan_text(plan);
  witness_ = {};
  if (std::optional<std::string> known = record_.text(name); known && read_witness(*known, witness_)) {
    // The lists that a plan has are made again; the predictions are what was kept.
    plan.predictions = std::move(witness_.plan.predictions);
    witness_.plan = std::move(plan);
    witness_.by = candidate.attack;
    return witness_;
  }
  witness_ = {};
  witness_.by = candidate.attack;
  witness_.trial = candidate.trial;
  witness_.failure = candidate.failure;
  witness_.output = candidate.output;
  if (candidate.attack.predicts()) {
    std::optional<Profile> profile =
        trials_.profile(pool_, worker_, variable_, candidate.attack.strategy, candidate.trial);
    if (!profile) return std::nullopt;
    ++witness_.executions;
    plan.predictions = predict(candidate.attack.policy, *profile, candidate.trial, plan.head.seed);
  }
  witness_.plan = plan;
  std::optional<Run> first = run(plan);
  if (!first) return std::nullopt;
  bool values = candidate.attack.model != ModelId::kSc;
  witness_.trail = first->execution.trail;
  steps_ = first->execution.record.steps;
  if (first->same && values) {
    std::optional<bool> alone = needs_no_value();
    if (!alone) return std::nullopt;
    first->same = !*alone;
  }
  if (first->same) {
    if (!witness_.plan.predictions.empty() && !minimise_predictions()) return std::nullopt;
    if (!minimise_trail()) return std::nullopt;
    if (!witness_.plan.predictions.empty() && !minimise_predictions()) return std::nullopt;
    if (!confirm()) return std::nullopt;
    witness_.accepted = witness_.replayed == witness_.replays && (!values || witness_.values != 0);
    if (witness_.accepted && steps_ <= kMostTraced && !show()) return std::nullopt;
  }
  record_.set_text(name, witness_text(witness_));
  return witness_;
}

}  // namespace duress::classify
