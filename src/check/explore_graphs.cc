// SPDX-License-Identifier: Apache-2.0
//
// duress::check under rc11, all executions: each graph of reads-from and modification order once
// (exhaustive/graph_explorer.h), as `duress verify --model rc11` explores them.
#include <string.h>

#include "check/execution.h"
#include "exhaustive/graph_explorer.h"
#include "memory/model.h"
#include "sched/scheduler.h"

namespace duress {
namespace {

using exhaustive::GraphExplorer;

void write_request(const DuressCheck& c, const GraphExplorer::Plan& plan) {
  trail::Request& r = *check.request;
  r = trail::Request();
  r.seed = c.seed;
  r.strategy = raw(StrategyId::kExhaustive);
  r.model = raw(memory::ModelId::kRc11);
  r.fair_after = 0;
  r.most_steps = c.most_steps;
  r.steps = 1;
  r.length = plan.first;
  r.picks = plan.count;
  memcpy(r.picked(), plan.picks, plan.count * sizeof *plan.picks);
}

/// One exploration. True: begin anew, a loop that waits was found.
bool explore_once(DuressCheck& c, Arena& arena, u64 deadline, bool* failed) {
  constexpr u64 kMostNodes = u64{1} << 24;
  GraphExplorer graphs(arena);
  exhaustive::StepLog& log = check_steps();
  u32 limits = 0;
  u64 runs = 0;
  c.executions = 0;
  c.bound = nullptr;
  for (GraphExplorer::Plan plan; graphs.next(&plan) && !c.bound; ++runs) {
    if (deadline && runs % 64 == 63 && check_is_late(deadline)) c.bound = "the time was up";
    if (graphs.nodes() > kMostNodes) c.bound = "there was no more memory for what is still to be explored";
    if (c.bound) break;
    write_request(c, plan);
    u32 spins = log.spins;
    bool fails = check_execute();
    if (!fails && log.spins > spins) return true;
    GraphExplorer::Learned learned = graphs.learn(plan.ticket, log.steps, log.count, log.limits);
    if (learned == GraphExplorer::Learned::kDiverged)
      c.bound = "the closure does not do the same again under the same schedule";
    if (learned != GraphExplorer::Learned::kNew)
      continue;  // not allowed, or known: what came of it does not count
    limits |= log.limits;
    ++c.executions;
    if (fails) {
      *failed = true;
      return false;
    }
  }
  if (!c.bound) c.bound = check_bound_of(limits | graphs.limits());
  c.redundant = static_cast<u32>(graphs.redundant());
  c.complete = !c.bound && graphs.done();
  return false;
}

}  // namespace

bool explore_graphs(DuressCheck& c) {
  u64 deadline = check_deadline(c);
  Arena arena;
  bool failed = false;
  while (explore_once(c, arena, deadline, &failed)) {
  }
  arena.release_all();
  return failed;
}

}  // namespace duress
