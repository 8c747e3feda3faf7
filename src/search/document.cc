// SPDX-License-Identifier: Apache-2.0
#include "search/document.h"

#include <algorithm>

#include "catalog/heuristics.h"

namespace duress::search {

report::FailureEntry failure_entry(const Found& found, bool counted, finding::Names& names) {
  report::FailureEntry entry = report::describe_failure(found.failure, found.logs, names);
  entry.errors = found.errors;
  const trail::Request& head = found.plan.head;
  report::Discovery& how = entry.found;
  static_cast<finding::Reproduction&>(how) = found;
  how.strategy = name_of(head.strategy);
  if (head.strategy == StrategyId::kPct) how.depth = head.depth;
  how.model = name_of(head.model);
  how.weak_model = head.model != ModelId::kSc;
  if (how.weak_model) how.heuristic = name_of(head.heuristic);
  how.run = found.run + 1;
  if (counted) how.times = found.times;
  return entry;
}

void fill_document(const SearchResult& result, finding::Names& names, report::Document& document) {
  report::Suppressions none;
  document.runs = static_cast<int>(std::min<u64>(result.runs, 0x7fffffff));
  document.seconds = result.seconds;
  report::fill_document(result.races, none, document);
  // Which process it was is chance; everything else is the same for the same seed.
  for (auto& race : document.races) race.pid = 0;
  for (auto& crash : document.crashes) crash.pid = 0;
  document.incomplete.assign(result.incomplete.begin(), result.incomplete.end());
  document.complete = !result.interrupted && !result.out_of_time;
  document.failures.emplace();
  for (const Found& found : result.found)
    document.failures->push_back(failure_entry(found, result.kept_going, names));
  document.found_before = result.earlier;
  document.coverage = result.coverage;
  report::CampaignSummary& summary = document.campaign.emplace(result);
  summary.pairs_created = result.created.size();
  summary.deadlocks = result.suspected_deadlocks.size();
  summary.deadlocks_created = result.created_deadlocks.size();
  report::finish_document(document);
}

}  // namespace duress::search
