// SPDX-License-Identifier: Apache-2.0
//
// duress::check under rc11, all executions: each graph of reads-from and modification order once
// (exhaustive/graph_explorer.h), as `duress verify --model rc11` explores them.
#include "base/scoped_arena.h"
#include "catalog/models.h"
#include "check/explorers.h"
#include "exhaustive/graph_explorer.h"
#include "exhaustive/limits.h"
#include "sched/scheduler.h"

namespace duress {
namespace {

using exhaustive::GraphExplorer;

void write_request(const DuressCheck& c, const GraphExplorer::Plan& plan) {
  trail::Request& r = *check.request;
  r = trail::Request();
  r.seed = c.seed;
  r.strategy = StrategyId::kExhaustive;
  r.model = ModelId::kRc11;
  r.fair_after = 0;
  r.most_steps = c.most_steps;
  r.systematic = true;
  r.pick_count = plan.count;
  memcpy(r.picks().data(), plan.picks, plan.count * sizeof *plan.picks);
}

/// One exploration. True: an await loop or a racing access was found, and the exploration has to start over.
bool explore_once(DuressCheck& c, Arena& arena, const Deadline& deadline, SavedRace& race, bool* failed) {
  GraphExplorer graphs(arena);
  const exhaustive::StepLog& log = step_log();
  u32 limits = 0;
  u64 runs = 0;
  c.executions = 0;
  c.bound = nullptr;
  for (GraphExplorer::Plan plan; graphs.next(&plan) && !c.bound; ++runs) {
    c.bound = stop_reason(deadline, runs, graphs.nodes(), race.any());
    if (c.bound) break;
    write_request(c, plan);
    u32 spins = log.spins;
    bool fails = execute_closure();
    if (!fails && log.spins > spins) return true;
    GraphExplorer::Learned learned = graphs.learn(plan.ticket, log.steps, log.count, log.limits);
    if (learned == GraphExplorer::Learned::kDiverged) c.bound = exhaustive::kClosureDiverged;
    if (learned != GraphExplorer::Learned::kNew) continue;  // forbidden, or a duplicate: discarded
    limits |= log.limits;
    ++c.executions;
    if (fails && check.raced) {
      race.save(c.executions);
      fails = false;
    }
    if (!fails && promote_racing_sites()) return true;
    if (fails) {
      *failed = true;
      return false;
    }
  }
  if (!c.bound) c.bound = end_reason(limits | graphs.limits());
  c.redundant = static_cast<u32>(graphs.redundant());
  c.complete = !c.bound && graphs.done();
  return false;
}

}  // namespace

bool explore_graphs(DuressCheck& c, SavedRace& race) {
  Deadline deadline(c.seconds);
  ScopedArena arena;
  bool failed = false;
  while (explore_once(c, arena, deadline, race, &failed)) {
  }
  return failed;
}

}  // namespace duress
