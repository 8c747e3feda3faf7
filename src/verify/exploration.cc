// SPDX-License-Identifier: Apache-2.0
//
// The loop of `duress verify`: take the next execution from the explorer, have it run, and let the explorer
// learn from it. An exploration starts over when it finds an await loop or a racing access that it did not
// know, and when an exploration by graphs meets an operation that graphs do not reorder.
//
// A strand that waits for a plain variable never comes to a step while nobody knows that the variable races.
// So executions first *probe*: a strand that does nothing but plain accesses for long lets others run
// (trail::Points::kLongRuns). If that happened, the execution only counts for the races it shows; it is run
// again without probing, and so are all that follow, except where one does not end.
#include <algorithm>
#include <type_traits>
#include <unordered_set>

#include "base/scoped_arena.h"
#include "exec/clock.h"
#include "exhaustive/limits.h"
#include "search/preemptions.h"
#include "verify/alike.h"
#include "verify/speculation.h"

namespace duress::verify {
namespace {

using exec::now;

using Log = exhaustive::StepLog;

constexpr char kInterrupted[] = "interrupted";

}  // namespace

/// Explorer: exhaustive::Explorer, exhaustive::GraphExplorer or reads_from::ReadsFromExplorer.
template <typename Explorer>
class Verifier::Exploration {
 public:
  Exploration(Verifier& verifier, Explorer& explorer, Arena& arena)
      : verifier_(verifier), result_(verifier.result_), explorer_(explorer), fingerprint_(arena) {}

  /// True: start over.
  bool run(const std::atomic<bool>& stop) {
    verifier_.reset();
    if constexpr (kByTraces) explorer_.exchange_alike(verifier_.alike_.data());
    if constexpr (kByReadsFrom) explorer_.use_ordered(&verifier_.ordered_);
    bool over_again = false;
    exec::WorkerPool& pool = *verifier_.pool_;
    if (pool.size() == 1) {
      // Nothing could be run ahead: the one worker's thread explores, and hands nothing over.
      pool.start(1, [&](exec::Worker& worker) {
        worker_ = &worker;
        worker.forget_ahead();
        over_again = explore(stop);
      });
      pool.join([&] { return !stop && !verifier_.explored_long_enough(has_findings_); });
    } else {
      Ahead ahead(verifier_);
      ahead_ = &ahead;
      over_again = explore(stop);
      pool.halt();
    }
    if (!over_again) finish();
    pool.halt();
    return over_again;
  }

 private:
  static constexpr bool kByTraces = std::is_same_v<Explorer, exhaustive::Explorer>;
  static constexpr bool kByGraphs = std::is_same_v<Explorer, exhaustive::GraphExplorer>;
  static constexpr bool kByReadsFrom = std::is_same_v<Explorer, reads_from::ReadsFromExplorer>;

  /// By reads-from classes: explorations that find another ordered object each.
  static constexpr u32 kMostOrderedRounds = 200;

  /// Several workers: what they run ahead of time.
  struct Ahead {
    explicit Ahead(Verifier& verifier)
        : queue(*verifier.pool_,
                [&verifier](exec::Worker& worker, const exec::Plan& plan) {
                  return verifier.outcome_of(worker, plan);
                }),
          speculative(verifier, queue) {}
    ExecutionQueue queue;
    SpeculativeExplorers<Explorer> speculative;
  };

  /// True: start over.
  bool explore(const std::atomic<bool>& stop) {
    bool over_again = false;
    for (typename Explorer::Plan plan; bound_.empty() && explorer_.next(&plan);) {
      std::optional<Outcome> outcome = outcome_of(plan, stop);
      if (!outcome) break;
      if (!outcome->ran) {
        result_.problem = outcome->problem;
        break;
      }
      verifier_.take_limits(*outcome);
      over_again = found_await_loop(outcome->execution) || tells_alike_apart(outcome->execution) ||
                   learn(plan, *outcome);
      report_progress();
      if (!over_again) check_bounds(stop);
      if (over_again || !verifier_.new_racing_sites_.empty() || explorer_.done()) break;
    }
    if (bound_.empty() && !verifier_.new_racing_sites_.empty()) {
      verifier_.begin_round();
      over_again = true;
    }
    return over_again;
  }

  double seconds() const { return now() - verifier_.started_; }
  bool is_late() {
    has_findings_ = !result_.racy.empty() || !result_.found.empty();
    return verifier_.explored_long_enough(has_findings_);
  }

  /// Of what is counted. Interleavings that are blocked or left out are executions of the explorer, too:
  /// their share is taken to stay the same.
  exhaustive::Estimate estimate() const {
    exhaustive::Estimate all = explorer_.estimate();
    if constexpr (!kByGraphs) {
      const auto counted = static_cast<double>(result_.interleavings);
      const auto learned = static_cast<double>(explorer_.learned());
      const double share = learned > 0 ? counted / learned : 1;
      all = {all.executions * share, all.low * share, all.high * share};
    }
    return all;
  }

  void report_progress() {
    if (!verifier_.progress_) return;
    // What an earlier round found is found again by this one, sooner or later.
    verifier_.progress_({result_.interleavings,
                         std::max(result_.racy.size(), verifier_.earlier_races_.size()),
                         std::max(result_.found.size(), verifier_.earlier_failures_.size()), seconds(),
                         [this] { return estimate(); }});
  }

  /// Nothing: interrupted, or out of time; then bound_ is set. Or a probe found a new racing access.
  std::optional<Outcome> outcome_of(const typename Explorer::Plan& plan, const std::atomic<bool>& stop) {
    std::optional<Outcome> outcome = run_plan(plan, stop);
    if (!outcome || !outcome->ran) return outcome;
    if (outcome->execution.record.long_runs != 0) {
      if (verifier_.note_racing(outcome->logs)) return std::nullopt;
      set_probing(false);
      return run_plan(plan, stop);
    }
    if (!outcome->execution.timed_out || verifier_.probes_long_runs_) return outcome;
    set_probing(true);
    std::optional<Outcome> probe = run_plan(plan, stop);
    set_probing(false);
    if (!probe || !probe->ran) return probe;
    if (verifier_.note_racing(probe->logs)) return std::nullopt;
    return outcome;
  }

  void set_probing(bool on) {
    verifier_.probes_long_runs_ = on;
    forget_pending();
  }

  std::optional<Outcome> run_plan(const typename Explorer::Plan& plan, const std::atomic<bool>& stop) {
    if (ahead_) return take_plan(plan, stop);
    sent_.erase(plan.ticket->serial);
    Outcome outcome = verifier_.outcome_of(*worker_, plan_of(verifier_.base_plan(), plan, verifier_.origins_),
                                           [this](std::size_t most) { return pending_plans(most); });
    if (!outcome.ran && outcome.problem.kind == exec::WorkerProblem::Kind::kStopped) return stopped(stop);
    return outcome;
  }

  /// Pending branches, none of them twice: the one worker's process may perform them with the branch that was
  /// asked for.
  std::vector<exec::Plan> pending_plans(std::size_t most) {
    std::vector<exec::Plan> plans;
    explorer_.upcoming(static_cast<u32>(most), [&](const typename Explorer::Upcoming& one) {
      if (sent_.insert(one.serial).second)
        plans.push_back(plan_of(verifier_.base_plan(), explorer_.plan_of(one.leaf), verifier_.origins_));
    });
    return plans;
  }

  /// Plans are other ones from now on.
  void forget_pending() {
    if (ahead_) ahead_->speculative.forget();
    if (worker_) worker_->forget_ahead();
    sent_.clear();
  }

  /// The same from the queue.
  std::optional<Outcome> take_plan(const typename Explorer::Plan& plan, const std::atomic<bool>& stop) {
    std::string name = name_of(plan, verifier_.origins_);
    if (!ahead_->queue.has(name))
      ahead_->queue.add(name, plan_of(verifier_.base_plan(), plan, verifier_.origins_), /*first=*/true);
    ahead_->speculative.send(explorer_);
    for (;;) {
      if (std::optional<Outcome> outcome = ahead_->queue.take(name)) return outcome;
      ahead_->speculative.send(explorer_);
      report_progress();
      if (!stop && !is_late()) continue;
      verifier_.pool_->halt();
      return stopped(stop);
    }
  }

  std::optional<Outcome> stopped(const std::atomic<bool>& stop) {
    result_.interrupted = stop;
    result_.out_of_time = !stop;
    bound_ = stop ? kInterrupted : kOutOfTime;
    return std::nullopt;
  }

  /// Numbers the strands as all executions do. True: there is a new await loop, and room to remember it.
  bool found_await_loop(exec::Execution& execution) {
    std::size_t strands = verifier_.origins_.size();
    renumber(execution, verifier_.origins_);
    if (verifier_.origins_.size() != strands) forget_pending();
    std::vector<u64>& spins = verifier_.spins_;
    bool found = false;
    for (u64 spin : execution.spins) {
      if (std::find(spins.begin(), spins.end(), spin) != spins.end()) continue;
      spins.push_back(spin);
      found = true;
    }
    return found && spins.size() < Log::kMostSpins;
  }

  /// True: the program tells threads apart that were taken to be alike.
  bool tells_alike_apart(const exec::Execution& execution) {
    if (!verifier_.setup_.symmetry) return false;
    verifier_.alike_ = alike_strands(verifier_.origins_);
    if (!joins_apart(execution.steps, verifier_.alike_)) return false;
    verifier_.setup_.symmetry = false;
    verifier_.alike_ = {};
    verifier_.origins_.clear();
    return true;
  }

  /// True: graphs or reads-from classes do not suffice, start over with interleavings; or with more objects
  /// that are ordered.
  bool learn(const typename Explorer::Plan& plan, Outcome& outcome) {
    exec::Execution& execution = outcome.execution;
    const exhaustive::Step* steps = execution.steps.data();
    auto count = static_cast<u32>(execution.steps.size());
    if constexpr (kByGraphs) {
      auto learned = explorer_.learn(plan.ticket, steps, count, execution.limits);
      if (learned == Explorer::Learned::kNew) verifier_.note(outcome);
      verifier_.diverged_ += learned == Explorer::Learned::kDiverged;
      if (((explorer_.limits() | execution.limits) & Log::kNotExplored) == 0) return false;
      verifier_.by_interleavings_ = true;
      verifier_.kept_limits_ = explorer_.limits() & (Log::kHistory | Log::kMixedSizes);
      return true;
    } else if constexpr (kByReadsFrom) {
      return learn_class(plan, outcome);
    } else {
      if (verifier_.setup_.model != ModelId::kSc) {
        if (verifier_.is_new(execution, fingerprint_)) verifier_.note(outcome);
      } else if ((execution.limits & Log::kAwaitBlocked) != 0) {
        ++result_.cut_off;
      } else if (verifier_.within_bound(execution)) {
        verifier_.note(outcome);
      } else {
        ++result_.skipped;
      }
      verifier_.diverged_ += !explorer_.learn(plan.ticket, steps, count);
      return false;
    }
  }

  /// True: start over.
  bool learn_class(const typename Explorer::Plan& plan, Outcome& outcome) {
    using Learned = reads_from::ReadsFromExplorer::Learned;
    const exec::Execution& execution = outcome.execution;
    if ((execution.limits & Log::kPlainRead) != 0) {
      verifier_.explore_by_traces(exhaustive::limit_text(Log::kPlainRead, exhaustive::Explored::kProgram) +
                                  verifier_.limited_at_[Log::kPlainRead]);
      return true;
    }
    switch (explorer_.learn(plan.ticket, execution.steps.data(), static_cast<u32>(execution.steps.size()))) {
      case Learned::kNew:
        if ((execution.limits & Log::kAwaitBlocked) == 0) {
          verifier_.note(outcome);
          return false;
        }
        [[fallthrough]];
      case Learned::kKnown:
      case Learned::kRefuted:
        ++result_.cut_off;
        return false;
      case Learned::kNewOrdered:
        if (++verifier_.ordered_rounds_ > kMostOrderedRounds)
          verifier_.explore_by_traces("loops wait for ever new objects");
        return true;
      case Learned::kDiverged:
        verifier_.explore_by_traces("what a step does depends on more than what it reads");
        return true;
      case Learned::kNotSupported:
        verifier_.explore_by_traces(explorer_.why());
        return true;
    }
    return false;
  }

  /// Sets bound_ if something other than completion ends the exploration.
  void check_bounds(const std::atomic<bool>& stop) {
    const VerifySetup& setup = verifier_.setup_;
    if (verifier_.earlier_executions_ + result_.interleavings >= setup.most_executions)
      bound_ = "as many executions as --runs allows";
    if (setup.stops_at_first && result_.first_finding != 0) bound_ = "one finding was enough";
    if (explorer_.nodes() > exhaustive::kMostNodes) bound_ = exhaustive::kOutOfMemory;
    if (is_late()) {
      bound_ = kOutOfTime;
      result_.out_of_time = true;
    }
    if (stop) {
      bound_ = kInterrupted;
      result_.interrupted = true;
    }
    if (explorer_.done() && verifier_.new_racing_sites_.empty())
      bound_.clear(), result_.out_of_time = result_.interrupted = false;
  }

  void finish() {
    if (!explorer_.done()) result_.estimate = estimate();
    result_.complete = explorer_.done() && verifier_.new_racing_sites_.empty();
    result_.redundant = explorer_.redundant();
    result_.exchanged_alike =
        std::any_of(verifier_.alike_.begin(), verifier_.alike_.end(), [](u8 kind) { return kind != 0; });
    result_.skipped += explorer_.skipped();
    if (!bound_.empty()) result_.bounds.push_back(bound_);
    if (!verifier_.new_racing_sites_.empty()) result_.bounds.emplace_back(exhaustive::kFailuresNotSearched);
    if (verifier_.races_in_library_) result_.bounds.emplace_back(exhaustive::kLibraryRaces);
    if (result_.skipped != 0)
      result_.bounds.push_back(
          "only interleavings with at most " + std::to_string(verifier_.setup_.preemptions) +
          " preemptions (--preemptions): " + std::to_string(result_.skipped) + " others were left out");
  }

  Verifier& verifier_;
  VerifyResult& result_;
  Explorer& explorer_;
  exec::Worker* worker_ = nullptr;  // if there is only one
  std::unordered_set<u64> sent_;    // then: serials of branches that it may have performed before their turn
  Ahead* ahead_ = nullptr;          // if there are several
  std::atomic<bool> has_findings_{false};
  exhaustive::GraphFingerprint fingerprint_;
  std::string bound_;  // why it ended before everything was explored
};

void Verifier::explore_by_traces(const std::string& why) {
  result_.by_traces = why;
}

bool Verifier::explore(const std::atomic<bool>& stop) {
  ScopedArena arena;
  result_.reads_from = by_reads_from();
  if (by_reads_from()) {
    reads_from::ReadsFromExplorer explorer(arena);
    return Exploration<reads_from::ReadsFromExplorer>(*this, explorer, arena).run(stop);
  }
  if (setup_.model != ModelId::kSc && !by_interleavings_) {
    exhaustive::GraphExplorer graphs(arena);
    bool over_again = Exploration<exhaustive::GraphExplorer>(*this, graphs, arena).run(stop);
    limits_ |= graphs.limits();
    result_.cut_off = graphs.illegal() + graphs.await_blocked();
    return over_again;
  }
  exhaustive::Explorer explorer(arena);
  search::Preemptions bound_by{setup_.preemptions};
  if (setup_.preemptions >= 0) explorer.admit_only(&search::Preemptions::admit, &bound_by);
  return Exploration<exhaustive::Explorer>(*this, explorer, arena).run(stop);
}

/// Forgets what an exploration that is started over has found.
void Verifier::reset() {
  result_.interleavings = result_.skipped = result_.first_finding = result_.cut_off = 0;
  result_.racy.clear();
  result_.found.clear();
  result_.atomics.clear();
  known_races_.clear();
  known_failures_.clear();
  fingerprints_.clear();
  limits_ = kept_limits_;
  if (kept_limits_ == 0) limited_at_.clear();
  diverged_ = 0;
}

void Verifier::note(Outcome& outcome) {
  ++result_.interleavings;
  take(outcome);
  if (result_.first_finding == 0 && (!result_.racy.empty() || !result_.found.empty()))
    result_.first_finding = result_.interleavings;
}

/// Exploring interleavings under rc11: whether the execution counts and its graph is new.
bool Verifier::is_new(const exec::Execution& execution, exhaustive::GraphFingerprint& fingerprint) {
  bool counts = (execution.limits & (Log::kIllegal | Log::kAwaitBlocked)) == 0;
  // With mixed-size accesses the fingerprint does not say which bytes were read from where.
  bool no_fingerprint = (kept_limits_ & Log::kMixedSizes) != 0;
  if (counts && no_fingerprint) return true;
  auto count = static_cast<u32>(execution.steps.size());
  if (counts && fingerprints_.insert(fingerprint.of(execution.steps.data(), count)).second) return true;
  ++result_.cut_off;
  return false;
}

/// Whether the execution needs no more preemptions than were asked for.
bool Verifier::within_bound(const exec::Execution& execution) const {
  if (setup_.preemptions < 0) return true;
  std::vector<const exhaustive::Step*> steps;
  for (const exhaustive::Step& step : execution.steps) {
    if (!step.is(exhaustive::Step::kAfter) && !step.is(exhaustive::Step::kPending)) steps.push_back(&step);
  }
  return search::least_preemptions(steps.data(), static_cast<u32>(steps.size())) <=
         static_cast<u32>(setup_.preemptions);
}

}  // namespace duress::verify
