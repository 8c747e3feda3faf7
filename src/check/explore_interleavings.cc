// SPDX-License-Identifier: Apache-2.0
//
// duress::check under sc, all executions: every interleaving up to equivalence (exhaustive/explorer.h), as
// `duress verify` explores them.
#include "base/scoped_arena.h"
#include "check/explorers.h"
#include "check/races.h"
#include "exhaustive/explorer.h"
#include "exhaustive/limits.h"
#include "runtime/control.h"
#include "runtime/runtime.h"

namespace duress {
namespace {

using exhaustive::Explorer;
using exhaustive::StepLog;

void write_request(const DuressCheck& c, const Explorer::Plan& plan) {
  trail::Request& r = *check.request;
  r = trail::Request();
  r.seed = c.seed;
  r.strategy = StrategyId::kExhaustive;
  r.most_steps = c.most_steps;
  r.systematic = true;
  r.spurious = c.spurious;
  r.pick_count = plan.count;
  memcpy(r.picks().data(), plan.picks, plan.count * sizeof *plan.picks);
}

/// The execution that just ran passed; it is run again as often as needed to know whether it has a race.
/// True: it has. *unobserved is set if there is no memory to tell.
bool rerun_has_race(bool* unobserved) {
  if (g_race_watch == RaceWatch::kDigest) {
    if (same_accesses_had_no_race()) return false;
    rerun_with_prefilter();
    if (execute_closure()) return true;
  }
  while (prefilter_must_rerun()) {
    if (execute_closure()) return true;
  }
  if (!prefilter_race_possible()) {
    if (g_race_watch == RaceWatch::kPrefilter) remember_no_race();
    return false;
  }
  if (watch_with_clocks()) return execute_closure();
  watch_races(RaceWatch::kNone, nullptr);
  *unobserved = true;
  return false;
}

/// One exploration. True: an await loop or a racing access was found, and the exploration has to start over.
bool explore_once(DuressCheck& c, Arena& arena, const Deadline& deadline, SavedRace& race, bool* failed,
                  bool* unobserved) {
  Explorer explorer(arena);
  const StepLog& log = step_log();
  u32 limits = 0;
  c.executions = 0;
  c.bound = nullptr;
  for (Explorer::Plan plan; !*failed && explorer.next(&plan); ++c.executions) {
    const char* reason = stop_reason(deadline, c.executions, explorer.nodes(), race.any());
    if (reason) {
      c.bound = reason;
      break;
    }
    write_request(c, plan);
    u32 spins = log.spins;
    *failed = execute_closure() || rerun_has_race(unobserved);
    limits |= log.limits;
    if (*failed && check.raced) {
      race.save(c.executions + 1);
      *failed = false;
    }
    if (!*failed && promote_racing_sites()) return true;
    if (!*failed && log.limits & StepLog::kAwaitBlocked) --c.executions;  // discarded
    if (!*failed && log.spins > spins) {                                  // see sched/spin_detector.h
      // Plain writes are observed from now on: a round of the loop that writes is more than a wait.
      g_observe_plain = true;
      return true;
    }
    if (!explorer.learn(plan.ticket, log.steps, log.count)) c.bound = exhaustive::kClosureDiverged;
  }
  if (!c.bound) c.bound = *unobserved ? "there is no memory to look for races" : end_reason(limits);
  c.redundant = static_cast<u32>(explorer.redundant());
  c.complete = !*failed && !c.bound && explorer.done();
  return false;
}

}  // namespace

const char* stop_reason(const Deadline& deadline, u64 runs, u64 nodes, bool raced) {
  constexpr u64 kMostWithRaces = 100'000;
  if (raced && runs >= kMostWithRaces) return exhaustive::kFailuresNotSearched;
  if (runs % 64 == 63 && deadline.passed()) return exhaustive::kTimeIsUp;
  return nodes > exhaustive::kMostNodes ? exhaustive::kOutOfMemory : nullptr;
}

bool promote_racing_sites() {
  if (!g_runtime->points.promote()) return false;
  g_observe_plain = g_note_caller = true;
  return true;
}

const char* end_reason(u32 limits) {
  const char* text = exhaustive::limit_text(limits, exhaustive::Explored::kClosure);
  return text || !raced_in_library() ? text : exhaustive::kLibraryRaces;
}

bool explore_interleavings(DuressCheck& c, SavedRace& race) {
  Deadline deadline(c.seconds);
  ScopedArena arena;
  bool failed = false, unobserved = false;
  while (explore_once(c, arena, deadline, race, &failed, &unobserved)) {
  }
  return failed;
}

}  // namespace duress
