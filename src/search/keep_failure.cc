// SPDX-License-Identifier: Apache-2.0
//
// What a search does with a failure: replays it, makes it small, finds out whether it needs the memory model,
// and stores it.

#include <algorithm>

#include "exec/clock.h"
#include "search/minimiser.h"
#include "search/search.h"

namespace duress::search {
namespace {

using exec::now;

constexpr u64 kMinimiseRuns = 1000;
constexpr double kMinimiseSeconds = 30;
constexpr u64 kRunsWithoutModel = 200;

/// Whether its text names locks. Runs without end, which mostly do not, have a million steps to be looked
/// through.
bool names_locks(const finding::Stuck& stuck) {
  if (stuck.outcome != "livelock" && stuck.outcome != "step-limit") return true;
  return std::any_of(stuck.strands.begin(), stuck.strands.end(), [](const finding::StuckStrand& s) {
    return s.operation.find("lock") != std::string::npos;
  });
}

}  // namespace

void Search::minimise(exec::Worker& worker, Found& found) {
  found.replay_tried = false;
  auto replay = [&](const exec::Trail& trail) -> std::optional<Attempt> {
    exec::Result result = run_identified(worker, found.plan.replaying(trail));
    if (!result.usable()) return std::nullopt;
    found.replay_tried = true;
    bool same = result.failure() != nullptr && result.failure()->id == found.failure.id;
    if (!found.replayed) found.diverged = result.execution().record.diverged;
    found.replayed = found.replayed || same;
    return attempt_of(result.execution(), same);
  };
  Minimised minimised = Minimiser(replay, setup_.minimise ? kMinimiseRuns : 1).run(found.trail);
  found.replayed = minimised.confirmed;
  if (!minimised.confirmed) return;
  found.diverged = 0;
  found.fewest = minimised.complete;
  found.trail = minimised.trail;
  found.switches = minimised.switches;
  // Once more, for the stacks and the output of exactly this execution.
  if (*stop_ || out_of_time()) return;
  bool halted = pool_->resume();
  exec::Result result = run_identified(worker, found.plan.replaying(found.trail));
  if (result.usable() && result.failure() != nullptr && result.failure()->id == found.failure.id) {
    found.trail = std::move(result.execution().trail);
    found.switches = result.execution().record.switches;
    found.stale = result.execution().record.stale_loads;
    found.early = result.execution().record.early_stores;
    found.failure = std::move(*result.failure());
    found.logs = std::move(result.logs());
    found.errors = exec::last_errors(worker.captured());
  }
  if (found.logs.stuck && names_locks(*found.logs.stuck)) name_locks(worker, found);
  if (halted) pool_->halt();
}

/// Who waits for which lock is what a deadlock is about: one more run shows in which objects the locks are.
void Search::name_locks(exec::Worker& worker, Found& found) {
  exec::Plan plan = found.plan.replaying(found.trail);
  plan.head.trace = plan.head.trace_plain = true;
  exec::Result result = run_identified(worker, plan);
  if (result.usable() && result.logs().stuck) found.logs.steps = std::move(result.logs().steps);
}

void Search::try_without_model(exec::Worker& worker, Found& found) {
  if (found.plan.head.model == ModelId::kSc || (found.stale == 0 && found.early == 0)) return;
  SearchOptions options = setup_.search;
  options.model = ModelId::kSc;
  Portfolio portfolio(options);
  found.needs_model = true;
  std::vector<Portfolio::Turn> turns;
  for (u64 i = 0; i < kRunsWithoutModel && found.needs_model; ++i) {
    if (i == Portfolio::round_begin(i)) turns = portfolio.deal(i, state_.search_state);
    const Portfolio::Turn& turn = turns[i - Portfolio::round_begin(i)];
    exec::Result result = run_identified(worker, portfolio.plan(i, turn, state_.search_state));
    if (!result.usable()) return;
    found.needs_model = result.failure() == nullptr || result.failure()->id != found.failure.id;
    ++found.without_model;
  }
}

void Search::keep(Found& found) {
  const std::string session_id = found.failure.id;
  const double start = now();
  if (out_of_time()) {
    found.replay_tried = false;  // --time is a promise, and there may be many failures
  } else {
    pool_->resume();
    pool_->start(1, [&](exec::Worker& worker) {
      minimise(worker, found);
      try_without_model(worker, found);
    });
    pool_->join([&] { return tick("minimising") && !out_of_time() && now() - start <= kMinimiseSeconds; });
  }
  state_.failures.push_back(session_id);
  found.failure.id = store_.free_id(found.failure.identity);
  exec::StoredFinding stored =
      stored_finding(found, found.plan, setup_.worker, setup_.oracle, setup_.search.seed);
  if (std::string error = store_.save(stored); !error.empty()) result_.warning = error;
  found.token = stored.token;
  listener_.found(found);
  result_.found.push_back(std::move(found));
}

}  // namespace duress::search
