// SPDX-License-Identifier: Apache-2.0
//
// Races and failures that verify found: minimised, and failures stored for replays.
#include <algorithm>

#include "search/minimiser.h"
#include "verify/verifier.h"

namespace duress::verify {
namespace {

constexpr u64 kMinimiseRuns = 300;

bool has_race(const finding::RunLogs& logs, const std::string& key) {
  const finding::ProcessLog* process = logs.process();
  if (process == nullptr) return false;
  return std::any_of(process->races.begin(), process->races.end(),
                     [&](const finding::RaceRecord& race) { return race_key(race) == key; });
}

}  // namespace

std::string race_key(const finding::RaceRecord& race) {
  auto side = [](const std::optional<finding::SiteRecord>& site) {
    return site ? std::to_string(site->module) + ":" + std::to_string(site->index) : std::string("-");
  };
  std::string a = side(race.prev.site), b = side(race.cur.site);
  return a < b ? a + " " + b : b + " " + a;
}

/// The same race with fewer switches.
void Verifier::minimise_race(RacyExecution& racy) {
  if (!setup_.minimise || racy.switches == 0) return;
  exec::Worker& worker = pool_->front();
  auto replay = [&](const exec::Trail& trail) -> std::optional<search::Attempt> {
    exec::Plan plan = racy.plan.replaying(trail);
    plan.head.detect = trail::Detect::kRaces;
    exec::Result result = worker.run(plan, oracle_, exec::Logs::kAll);
    if (!result.usable()) return std::nullopt;
    return search::attempt_of(result.execution(), has_race(result.logs(), racy.key));
  };
  search::Minimised minimised = search::Minimiser(replay, kMinimiseRuns).run(racy.trail);
  if (!minimised.confirmed) return;
  racy.trail = minimised.trail;
  racy.switches = minimised.switches;
}

void Verifier::minimise_found(search::Found& found) {
  exec::Worker& worker = pool_->front();
  auto run = [&](const exec::Trail& trail, Outcome& outcome) {
    exec::Plan plan = found.plan.replaying(trail);
    outcome = outcome_of(worker, plan);
    return outcome.ran;
  };
  auto replay = [&](const exec::Trail& trail) -> std::optional<search::Attempt> {
    Outcome outcome;
    if (!run(trail, outcome)) return std::nullopt;
    bool same = outcome.failure && outcome.failure->id == found.failure.id;
    return search::attempt_of(outcome.execution, same);
  };
  search::Minimised minimised =
      search::Minimiser(replay, setup_.minimise ? kMinimiseRuns : 1).run(found.trail);
  found.replayed = minimised.confirmed;
  if (!minimised.confirmed) return;
  found.fewest = minimised.complete;
  found.trail = minimised.trail;
  found.switches = minimised.switches;
  Outcome outcome;
  if (!run(found.trail, outcome) || !outcome.failure || outcome.failure->id != found.failure.id) return;
  found.trail = std::move(outcome.execution.trail);
  found.switches = outcome.execution.record.switches;
  found.failure = std::move(*outcome.failure);
  found.logs = std::move(outcome.logs);
  found.errors = std::move(outcome.errors);
  if (!found.logs.stuck) return;
  // Who waits for which lock is what a deadlock is about: one more run shows in which objects the locks are.
  exec::Plan plan = found.plan.replaying(found.trail);
  plan.head.trace = plan.head.trace_plain = true;
  Outcome traced = outcome_of(worker, plan);
  if (traced.ran && traced.logs.stuck) found.logs.steps = std::move(traced.logs.steps);
}

void Verifier::keep(search::Found& found) {
  found.failure.id = store_.free_id(found.failure.identity);
  exec::StoredFinding stored =
      search::stored_finding(found, found.plan.replaying({}), setup_.worker, setup_.oracle, setup_.seed);
  stored.strategy = name_of(StrategyId::kExhaustive);
  if (std::string error = store_.save(stored); !error.empty()) result_.bounds.push_back(error);
  found.token = stored.token;
}

}  // namespace duress::verify
