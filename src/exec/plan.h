// SPDX-License-Identifier: Apache-2.0
//
// One execution as the host asks for it and as it came back: the two files of trail/execution.h, owned.
#ifndef DURESS_EXEC_PLAN_H_
#define DURESS_EXEC_PLAN_H_

#include <vector>

#include "event/memory_models.h"
#include "event/strategies.h"
#include "exhaustive/step_log.h"
#include "trail/execution.h"

namespace duress::exec {

using Trail = std::vector<trail::Deviation>;

/// The numbers of Request::model and Request::heuristic, in the order of their tables.
enum class ModelNumber : u32 {
#define DURESS_MODEL(identifier, name, description) identifier,
  DURESS_MODELS(DURESS_MODEL)
#undef DURESS_MODEL
};
inline constexpr u32 kRc11Model = raw(ModelNumber::kRc11);

/// A request with its lists. The counts in `head` are set when it is written.
struct Plan {
  trail::Request head;
  std::vector<u32> sites;
  std::vector<u32> waits;  // sites that are no points, but where nobody goes on for long
  std::vector<trail::SitePair> pairs;
  Trail trail;
  std::vector<trail::Prediction> predictions;        // values of the future that loads shall return
  std::vector<trail::Pick> picks;                    // what the exhaustive strategy chooses first
  std::vector<exhaustive::StepLog::Origin> origins;  // executions by steps: strands that are known
  std::vector<u64> spins;                            // and places of loops that wait

  StrategyId strategy() const { return static_cast<StrategyId>(head.strategy); }
  /// The same execution again, following `choices` instead of a strategy.
  Plan replaying(Trail choices) const;
};

inline Plan Plan::replaying(Trail choices) const {
  Plan plan = *this;
  plan.head.strategy = raw(StrategyId::kReplay);
  // Clocks decide which values are legal; rc11 has them without being told.
  plan.head.detect = head.model && head.model != kRc11Model ? trail::kDetectClocks : trail::kDetectNothing;
  plan.pairs.clear();
  plan.picks.clear();
  plan.trail = std::move(choices);
  return plan;
}

/// How an execution went, as far as record, waiting and captured streams tell.
struct Execution {
  trail::Record record;
  Trail trail;                          // what was chosen; with it the same execution comes again
  std::vector<exhaustive::Step> steps;  // of an execution by steps
  std::vector<exhaustive::StepLog::Origin> origins;
  std::vector<u64> spins;
  u32 limits = 0;                          // exhaustive::StepLog::Limit
  std::vector<trail::Prediction> profile;  // if the plan asked for one, in the order of the loads
  int pid = 0;                             // of the process that ran it
  int status = 0;                          // as waitpid gives it
  bool timed_out = false;
  bool flooded = false;  // it was ended because it printed without end
  double seconds = 0;
  u64 output_bytes = 0, error_bytes = 0;

  bool began() const { return record.magic == trail::kMagic; }
};

/// The name of a strategy, as on the command line.
const char* strategy_name(StrategyId id);
/// The number of the strategy of that name; false if there is none.
bool strategy_from_name(const char* name, StrategyId& id);

/// The same for memory models and heuristics.
const char* model_name(u32 model);
bool model_from_name(const char* name, u32& model);
const char* heuristic_name(u32 heuristic);
bool heuristic_from_name(const char* name, u32& heuristic);

}  // namespace duress::exec

#endif  // DURESS_EXEC_PLAN_H_
