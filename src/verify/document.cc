// SPDX-License-Identifier: Apache-2.0
#include "verify/document.h"

#include "search/document.h"

namespace duress::verify {
namespace {

bool same_place(const finding::AccessReport& a, const finding::AccessReport& b) {
  finding::Frame x = a.site(), y = b.site();
  return x.file == y.file && x.line == y.line && x.column == y.column && a.access == b.access;
}

/// Not by the id: of several races that are alike but for their lines, only the first has the id that it
/// would have alone.
bool same_race(const finding::Race& a, const finding::Race& b) {
  return a.variable == b.variable &&
         ((same_place(a.sites[0], b.sites[0]) && same_place(a.sites[1], b.sites[1])) ||
          (same_place(a.sites[0], b.sites[1]) && same_place(a.sites[1], b.sites[0])));
}

/// The execution that shows the race.
const RacyExecution* shown_by(const finding::Race& race, const VerifyResult& result, finding::Names& names) {
  for (const RacyExecution& racy : result.racy) {
    for (const finding::RaceRecord& record : racy.log.races) {
      if (same_race(names.race(racy.log, record), race)) return &racy;
    }
  }
  return nullptr;
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
  for (report::RaceEntry& race : document.races) {
    race.pid = 0;  // which process it was is chance
    const RacyExecution* racy = shown_by(race, result, names);
    if (racy == nullptr) continue;
    race.replay = racy->token;
    race.executions = racy->executions;
    race.switches = racy->switches;
  }
  document.failures.emplace();
  for (const search::Found& found : result.found)
    document.failures->push_back(search::failure_entry(found, /*counted=*/true, names));
  report::Verification& verification = document.verification.emplace();
  verification.interleavings = result.interleavings;
  verification.rounds = result.rounds;
  verification.racing_steps = result.racing_sites;
  verification.first_finding = result.first_finding;
  verification.spurious = result.spurious;
  verification.timeouts = result.timeouts;
  verification.rc11 = setup.model != ModelId::kSc;
  verification.explore_seconds = result.explore_seconds;
  verification.assumes_signals = result.waited && result.spurious == 0;
  verification.bounds = result.bounds;
  report::finish_document(document);
}

}  // namespace duress::verify
