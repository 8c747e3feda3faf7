// SPDX-License-Identifier: Apache-2.0
#include "verify/verifier.h"

#include <algorithm>

#include "exec/clock.h"
#include "exec/token_text.h"
#include "exhaustive/limits.h"
#include "finding/text.h"

namespace duress::verify {
namespace {

using exec::now;

constexpr std::size_t kMostFound = 16;

/// <atomic>, <stdatomic.h> and the headers they include.
bool of_atomic_header(const std::string& file) {
  std::string name = finding::base_name(file);
  return name.empty() || name == "atomic" || name.rfind("atomic_", 0) == 0 || name == "stdatomic.h";
}

}  // namespace

u32 key_of(const finding::RunLogs& logs, const std::optional<finding::SiteRecord>& site) {
  for (const finding::SiteKey& known : logs.keys) {
    if (site && known.site.module == site->module && known.site.index == site->index) return known.key;
  }
  return 0;
}

Verifier::Verifier(VerifySetup setup, finding::Names& names, Progress progress)
    : setup_(std::move(setup)),
      names_(names),
      progress_(std::move(progress)),
      oracle_(setup_.oracle, setup_.worker.target[0]),
      store_(setup_.dir) {}

Verifier::~Verifier() = default;

exec::Plan Verifier::base_plan() const {
  exec::Plan plan;
  plan.head.strategy = StrategyId::kExhaustive;
  plan.head.seed = setup_.seed;
  plan.head.detect = trail::Detect::kRaces;
  plan.head.systematic = true;
  plan.head.memory = true;
  plan.head.symmetry = setup_.symmetry;
  plan.head.reads_from = by_reads_from();
  plan.head.skip_known = !plan.head.reads_from;  // every execution is to show its plain reads
  plan.head.exploration_order = setup_.order;
  plan.head.model = setup_.model;
  plan.head.profile_atomics = setup_.profile_atomics;
  plan.head.spurious = setup_.spurious;
  plan.head.timeouts = setup_.timeouts;
  if (setup_.model != ModelId::kSc) plan.head.fair_after = 0;
  plan.origins = origins_;
  plan.spins = spins_;
  plan.sites = racing_sites_;
  if (probes_long_runs_) plan.head.points = trail::Points::kLongRuns;
  plan.edits = setup_.edits;
  for (const trail::WhatIfEdit& edit : plan.edits) {
    if (edit.kind == trail::WhatIfEdit::Kind::kAtomic) plan.sites.push_back(edit.site);
  }
  return plan;
}

Outcome Verifier::outcome_of(exec::Worker& worker, const exec::Plan& plan, const exec::Lookahead& lookahead) {
  Outcome outcome;
  exec::Result result = worker.run(plan, oracle_, exec::Logs::kAll, lookahead);
  if (!result.usable()) {
    outcome.problem = result.why();
    return outcome;
  }
  outcome.ran = true;
  outcome.logs = std::move(result.logs());
  if (result.failure() != nullptr) {
    outcome.failure = std::move(*result.failure());
    outcome.errors = exec::last_errors(worker.captured());
    std::lock_guard guard(names_lock_);
    finding::identify(*outcome.failure, outcome.logs, names_);
  }
  outcome.execution = std::move(result.execution());
  return outcome;
}

/// The atomic operations that ran, each once.
void Verifier::take_atomics(const Outcome& outcome) {
  const finding::ProcessLog* process = outcome.logs.process();
  if (process == nullptr) return;
  for (const trail::AtomicProfileEntry& entry : outcome.execution.atomic_profile) {
    AtomicUse use;
    use.kind = entry.kind;
    use.success = raw(entry.order);
    use.failure = raw(entry.failure_order);
    for (finding::Address pc : entry.calls) {
      if (pc == 0 || use.pc != 0) break;
      std::lock_guard guard(names_lock_);
      for (const finding::Frame& frame : names_.stack(*process, {pc - 1})) {
        if (frame.library || frame.file.empty() || frame.file.rfind("/usr/", 0) == 0) {
          use.indirect = use.indirect || !of_atomic_header(frame.file);
          continue;
        }
        use.pc = pc;
        use.place = frame;
        break;
      }
    }
    bool known = std::any_of(result_.atomics.begin(), result_.atomics.end(), [&](const AtomicUse& other) {
      return other.pc == use.pc && other.kind == use.kind;
    });
    if (!known && use.pc != 0) result_.atomics.push_back(use);
  }
}

/// Adds the races, failures and facts of one execution to the result.
void Verifier::take(Outcome& outcome) {
  exec::Execution& execution = outcome.execution;
  result_.most_strands = std::max(result_.most_strands, execution.record.strands);
  result_.most_steps = std::max<u64>(result_.most_steps, execution.steps.size());
  result_.publishing_store = std::max(result_.publishing_store, execution.record.publishing_store);
  for (const finding::ProcessLog& process : outcome.logs.run.processes)
    result_.incomplete.insert(process.incomplete.begin(), process.incomplete.end());
  uncontrolled_ = uncontrolled_ || execution.record.uncontrolled != 0;
  result_.memory_limits |= execution.record.memory_limits;
  result_.waited =
      result_.waited || std::any_of(execution.steps.begin(), execution.steps.end(),
                                    [](const exhaustive::Step& step) { return step.kind == OpKind::kWait; });
  take_atomics(outcome);
  take_side_events(outcome);
  if (const finding::ProcessLog* process = outcome.logs.process()) {
    std::map<std::string, const finding::RaceRecord*> here;
    for (const finding::RaceRecord& race : process->races) here.try_emplace(race_key(race), &race);
    for (const auto& [key, race] : here) {
      auto [it, is_new] = known_races_.try_emplace(key, result_.racy.size());
      if (!is_new) {
        ++result_.racy[it->second].executions;
        continue;
      }
      RacyExecution racy;
      racy.key = key;
      racy.log = *process;
      racy.log.races = {*race};
      racy.log.crashes.clear();  // a failure of its own
      racy.plan = base_plan();
      racy.plan.head.points = trail::Points::kSync;
      racy.trail = execution.trail;
      racy.switches = execution.record.switches;
      racy.executions = 1;
      racy.site_keys[0] = key_of(outcome.logs, race->prev.site);
      racy.site_keys[1] = key_of(outcome.logs, race->cur.site);
      note_racing(outcome.logs, *race);
      result_.racy.push_back(std::move(racy));
      if (listener_.race) listener_.race(result_.racy.back());
    }
  }
  if (!outcome.failure) return;
  auto [it, is_new] = known_failures_.try_emplace(outcome.failure->id, result_.found.size());
  if (!is_new) {
    ++result_.found[it->second].times;
    return;
  }
  search::Found found;
  found.failure = std::move(*outcome.failure);
  found.logs = std::move(outcome.logs);
  found.errors = std::move(outcome.errors);
  found.run = result_.interleavings - 1;
  found.plan = base_plan();
  found.plan.head.points = trail::Points::kSync;
  found.trail = execution.trail;
  found.switches = found.first_switches = execution.record.switches;
  found.times = 1;
  result_.found.push_back(std::move(found));
  if (!listener_.failure) return;
  const search::Found& last = result_.found.back();
  std::lock_guard guard(names_lock_);
  listener_.failure(last, store_.free_id(last.failure.identity));
}

bool Verifier::explored_long_enough(bool has_findings) const {
  if (setup_.deadline == 0) return false;
  constexpr double kFindingsShare = 0.2;  // of the time, for making them small
  return now() > setup_.deadline - (has_findings ? kFindingsShare * setup_.seconds : 0);
}

void Verifier::finish_findings(const std::atomic<bool>& stop) {
  for (const RacyExecution& racy : result_.racy) result_.races.processes.push_back(racy.log);
  if (result_.found.size() > kMostFound) result_.found.resize(kMostFound);
  if (!setup_.keeps) return;
  // On a thread of the pool, so that an execution that does not end can be halted.
  pool_->start(1, [&](exec::Worker&) {
    for (RacyExecution& racy : result_.racy) minimise_race(racy);
    for (search::Found& found : result_.found) minimise_found(found);
  });
  pool_->join([&] { return !stop && (setup_.deadline == 0 || now() < setup_.deadline); });
  for (RacyExecution& racy : result_.racy)
    racy.token = exec::make_token(racy.plan.replaying({}), racy.trail, setup_.worker.target[0]);
  for (search::Found& found : result_.found) keep(found);
}

VerifyResult Verifier::run(const std::atomic<bool>& stop) {
  started_ = now();
  result_.spurious = setup_.spurious;
  result_.timeouts = setup_.timeouts;
  if (std::string error = oracle_.load(); !error.empty()) {
    result_.problem = {exec::WorkerProblem::Kind::kTool, error};
    return std::move(result_);
  }
  if (setup_.deadline == 0 && setup_.seconds > 0) setup_.deadline = started_ + setup_.seconds;
  if (setup_.deadline > 0 && started_ > setup_.deadline) {
    result_.out_of_time = true;
    result_.bounds.emplace_back(kOutOfTime);
    return std::move(result_);
  }
  pool_ = std::make_unique<exec::WorkerPool>(setup_.worker, setup_.jobs);
  do pool_->resume();
  while (explore(stop));
  result_.explore_seconds = now() - started_;
  add_earlier_findings();
  pool_->resume();
  if (result_.problem.kind == exec::WorkerProblem::Kind::kNone) {
    for (u32 limit = 1; limit <= exhaustive::StepLog::kLast; limit <<= 1) {
      if ((limits_ & limit) == 0) continue;
      const char* text = exhaustive::limit_text(limit, exhaustive::Explored::kProgram);
      result_.bounds.push_back((text ? text : "") + limited_at_[limit]);
    }
    if (diverged_ != 0)
      result_.bounds.push_back("the program did not do the same again under the same schedule, " +
                               std::to_string(diverged_) + " times");
    if (uncontrolled_ && result_.incomplete.empty())
      result_.bounds.push_back("something ran that the scheduler does not control");
    for (const std::string& what : result_.incomplete) result_.bounds.push_back("not controlled: " + what);
    result_.complete = result_.complete && result_.bounds.empty();
    finish_findings(stop);
  }
  pool_.reset();
  result_.seconds = now() - started_;
  return std::move(result_);
}

}  // namespace duress::verify
