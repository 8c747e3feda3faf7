// SPDX-License-Identifier: Apache-2.0
//
// duress::check (include/duress/test.h): thousands of executions of one closure in this process. The caller's
// kernel thread carries all strands; threads of the closure are jobs for a pool. No kernel thread is made or
// woken per execution, so a small closure runs more than a hundred thousand times a second (bench/explore).
#include "base/check.h"

#include "check/crash_handlers.h"
#include "check/execution.h"
#include "check/explorers.h"
#include "check/failure.h"
#include "check/memory_errors.h"
#include "check/point_learner.h"
#include "check/races.h"
#include "runtime/control.h"
#include "runtime/interceptors/pool.h"
#include "runtime/runtime.h"

namespace duress {
namespace {

void check_options(const DuressCheck& c) {
  if (c.size != sizeof(DuressCheck)) fatal("duress/test.h is of another version than the runtime");
  if (!is_weak(c) && strcmp(c.model, "sc") != 0) fatal("duress::check knows the models sc and rc11");
  if (c.spurious && (is_weak(c) || (!c.exhaustive && !c.token)))
    fatal("duress::check explores spurious wake-ups in exhaustive checks under sc",
          "set exhaustive, or leave spurious and model");
}

/// Every execution up to equivalence.
bool explore_all(DuressCheck& c) {
  SavedRace race;
  mark_racing_sites(true);
  bool failed = is_weak(c) ? explore_graphs(c, race) : explore_interleavings(c, race);
  mark_racing_sites(false);
  g_observe_plain = true;  // a replay observes every access
  if (!failed) return race.report(c);
  check.other_race = race.what();
  if (keep_trail()) {
    minimise();
    report_failure(c, c.executions);
  }
  check.other_race = nullptr;
  return true;
}

void begin_watching_races(const DuressCheck& c) {
  RaceWatch watch = c.exhaustive ? RaceWatch::kDigest : RaceWatch::kPrefilter;
  // A closure whose races are ignored can fail because of them: they must be known to be steps.
  if (c.ignores_races && !c.exhaustive) watch = RaceWatch::kNone;
  if (is_weak(c)) watch = RaceWatch::kClocks;  // which the model needs
  watch_races(watch, c.exhaustive ? nullptr : learn_access);
  if (is_weak(c) && g_race_watch == RaceWatch::kNone)
    fatal("duress::check has no memory for rc11", "raise 'ulimit -v'");
}

}  // namespace
}  // namespace duress

using namespace duress;

extern "C" __attribute__((visibility("default"))) int __duress_check(DuressCheck* call) {
  check_options(*call);
  if (controlled() || g_pooling) {  // under `duress explore`, which chooses the schedule
    call->closure(call->data);
    call->executions = 1;
    return call->failed(call->data);
  }
  Runtime* rt = wake_for_check();
  prepare_executions();
  check.call = call;
  check.longest = 0;
  control_attach(check.request, check.record);
  g_observe_plain = !call->exhaustive;
  watch_memory(*call, *rt);
  rt->points.begin_learning(*check.request);
  if (call->exhaustive) {
    step_log().strands = 1;
    step_log().spins = 0;
  }
  begin_watching_races(*call);
  bool failed;
  {
    CrashHandlers handlers;
    failed = call->token ? replay(*call) : call->exhaustive ? explore_all(*call) : search(*call);
  }
  memory_guard_end();
  watch_races(RaceWatch::kNone, nullptr);
  rt->points.set_all(rt->detecting ? DURESS_BODY_CHECKED : DURESS_BODY_PLAIN);
  return failed;
}
