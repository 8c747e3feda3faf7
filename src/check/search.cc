// SPDX-License-Identifier: Apache-2.0
//
// duress::check at random: a mix of strategies, until an execution fails. One that only has a race is put by.
#include "check/execution.h"
#include "check/races.h"
#include "memory/model.h"
#include "runtime/runtime.h"
#include "sched/strategy.h"

namespace duress {
namespace {

/// What the i-th execution does. The first few take any thread at any access, so that sharing is learned.
void plan(u64 i) {
  trail::Request& r = *check.request;
  const DuressCheck& c = *check.asked;
  r = trail::Request();
  r.seed = mix(c.seed * 0x9e3779b97f4a7c15u + i);
  r.depth = c.depth;
  r.length = check.length;
  r.most_steps = c.most_steps;
  bool all = c.all_points || i < 4;
  r.points = all ? trail::Points::kAll : trail::Points::kSync;
  StrategyId id = StrategyId::kRandom;
  if (!sched::strategy_named(c.strategy, &id)) {  // portfolio
    constexpr StrategyId kTurns[] = {StrategyId::kRandom, StrategyId::kPct, StrategyId::kPos,
                                     StrategyId::kPct};
    id = kTurns[i % 4];
    r.depth = 1 + static_cast<u32>(i / 4 % 4);
  }
  r.strategy = raw(id);
  if (is_weak(c)) {  // there are five, and strategies come in a cycle of four: every two meet
    r.model = raw(memory::ModelId::kRc11);
    r.heuristic = static_cast<u32>(i % 5);
  }
}

/// An execution with a race, put by: one that does harm may come and is told instead.
struct PutBy {
  bool any = false;
  u64 found_in = 0;
  trail::Request request;
  trail::Deviation* trail = nullptr;
  const u32* points = nullptr;
  u32 point_count = 0;
  char what[sizeof check.what];
};

void put_by(PutBy& kept, u64 found_in) {
  if (!keep_trail()) return;
  trail::Request& r = *check.request;
  kept.any = true;
  kept.found_in = found_in;
  kept.request = r;
  kept.trail =
      static_cast<trail::Deviation*>(check_arena.allocate(r.deviations * sizeof(trail::Deviation) + 1));
  memcpy(kept.trail, r.trail(), r.deviations * sizeof(trail::Deviation));
  kept.points = g_runtime->points.marked(check_arena, &kept.point_count);
  memcpy(kept.what, check.what, sizeof kept.what);
}

void take_up(const PutBy& kept) {
  trail::Request& r = *check.request;
  r = kept.request;
  memcpy(r.trail(), kept.trail, r.deviations * sizeof(trail::Deviation));
  memcpy(check.what, kept.what, sizeof check.what);
  g_runtime->points.begin_learning(r);
  g_runtime->points.mark_keys(kept.points, kept.point_count);
  watch_races(RaceWatch::kClocks, nullptr);
}

}  // namespace

bool search(DuressCheck& c) {
  u64 deadline = check_deadline(c);
  static PutBy race;
  race.any = false;
  for (u64 i = 0; i < c.runs; ++i) {
    if (deadline && i % 64 == 63 && check_is_late(deadline)) break;
    plan(i);
    bool failed = check_execute();
    c.executions = i + 1;
    if (!failed && races_suspected()) {
      bool judged = watch_with_clocks();
      if (!judged) watch_races(RaceWatch::kNone, learn_access);
      if (judged && i + 1 == c.runs) failed = check_execute();  // else those that come will show it
    }
    if (!failed) continue;
    if (check.raced) {
      if (!race.any) put_by(race, i + 1);
      if (!is_weak(c)) watch_races(RaceWatch::kNone, learn_access);
      continue;
    }
    watch_races(is_weak(c) ? RaceWatch::kClocks : RaceWatch::kNone, nullptr);  // points stay as they were
    if (keep_trail()) {
      // What stuck strands had allocated is lost, so only few tries then.
      minimise(check.abandoned ? 20 : 400);
      report(c, i + 1);
    }
    return true;
  }
  if (!race.any) return false;
  take_up(race);
  minimise(400);
  report(c, race.found_in);
  return true;
}

}  // namespace duress
