// SPDX-License-Identifier: Apache-2.0
#include "verify/document.h"

#include <string>
#include <unordered_map>

#include "search/document.h"

namespace duress::verify {
namespace {

using report::MemoryErrors;

/// For each race the first execution that shows it, by finding::group_key: races of one id differ in places.
std::unordered_map<std::string, const RacyExecution*> executions_by_race(const VerifyResult& result,
                                                                         finding::Names& names) {
  std::unordered_map<std::string, const RacyExecution*> all;
  for (const RacyExecution& racy : result.racy) {
    for (const finding::RaceRecord& record : racy.log.races)
      all.try_emplace(finding::group_key(names.race(racy.log, record)), &racy);
  }
  return all;
}

}  // namespace

void fill_document(const VerifySetup& setup, const VerifyResult& result, finding::Names& names,
                   report::Document& document) {
  report::Suppressions none;
  document.runs = static_cast<int>(std::min<u64>(result.interleavings, 0x7fffffff));
  document.seconds = result.seconds;
  report::fill_document(result.races, none, document);
  document.incomplete.assign(result.incomplete.begin(), result.incomplete.end());
  document.complete = result.complete;
  auto shown_by = executions_by_race(result, names);
  for (report::RaceEntry& race : document.races) {
    race.pid = 0;  // which process it was is chance
    auto shown = shown_by.find(finding::group_key(race));
    if (shown == shown_by.end()) continue;
    race.replay = shown->second->token;
    race.executions = shown->second->executions;
    race.switches = shown->second->switches;
  }
  document.failures.emplace();
  for (const search::Found& found : result.found)
    document.failures->push_back(search::failure_entry(found, /*counted=*/true, names));
  report::Verification& verification = document.verification.emplace();
  verification.interleavings = result.interleavings;
  verification.blocked = result.cut_off;
  verification.rounds = result.rounds;
  verification.racing_steps = result.racing_sites;
  verification.first_finding = result.first_finding;
  verification.spurious = result.spurious;
  verification.timeouts = result.timeouts;
  verification.rc11 = setup.model != ModelId::kSc;
  verification.explore_seconds = result.explore_seconds;
  verification.memory = result.memory_limits & trail::kHeapNotSeen    ? MemoryErrors::kNotLookedFor
                        : result.memory_limits & trail::kMemoryReused ? MemoryErrors::kPartly
                                                                      : MemoryErrors::kLookedFor;
  verification.reads_from = result.reads_from;
  verification.by_traces = result.by_traces;
  verification.assumes_alike = result.exchanged_alike;
  verification.assumes_signals = result.waited && result.spurious == 0;
  verification.bounds = result.bounds;
  if (result.estimate.executions > 0)
    verification.estimate = {result.estimate.executions, result.estimate.low, result.estimate.high};
  report::finish_document(document);
}

}  // namespace duress::verify
