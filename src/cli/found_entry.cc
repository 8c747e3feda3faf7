// SPDX-License-Identifier: Apache-2.0
#include "cli/found_entry.h"

#include "catalog/heuristics.h"

namespace duress::cli {

report::FailureEntry found_entry(const search::Found& found, bool counted, finding::Names& names) {
  report::FailureEntry entry = report::describe_failure(found.failure, found.logs, names);
  entry.errors = found.errors;
  report::Discovery& how = entry.found;
  how.strategy = name_of(found.plan.head.strategy);
  if (found.plan.head.strategy == StrategyId::kPct) how.depth = found.plan.head.depth;
  how.model = name_of(found.plan.head.model);
  how.weak_model = found.plan.head.model != ModelId::kSc;
  if (how.weak_model) how.heuristic = name_of(found.plan.head.heuristic);
  how.run = found.run + 1;
  if (counted) how.times = found.times;
  how.switches = found.switches;
  how.first_switches = found.first_switches;
  how.fewest = found.fewest;
  how.replayed = found.replayed;
  how.diverged = found.diverged;
  how.stale = found.stale;
  how.early = found.early;
  how.without_model = found.without_model;
  how.needs_model = found.needs_model;
  how.token = found.token;
  return entry;
}

}  // namespace duress::cli
