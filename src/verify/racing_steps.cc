// SPDX-License-Identifier: Apache-2.0
//
// Racing accesses are steps: as soon as a race is found, its accesses become schedule points, and the
// exploration starts over as another *round*. The last round finds no race at any other access. In it all
// conflicting accesses are ordered by steps or by happens-before, so it has every outcome of the program
// (docs/adr/0011-racing-steps.md).
#include <algorithm>

#include "trail/site_key.h"
#include "verify/verifier.h"

namespace duress::verify {
namespace {

template <typename T>
bool contains(const std::vector<T>& list, const T& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

/// Atomic accesses are steps anyway.
void Verifier::note_racing(const finding::RunLogs& logs, const finding::RaceRecord& race) {
  if (setup_.races_suffice) return;
  for (const finding::AccessRecord* access : {&race.prev, &race.cur}) {
    u32 key = 0;
    switch (access->access) {
      case finding::Access::kRead:
      case finding::Access::kWrite:
        key = key_of(logs, access->site);
        break;
      case finding::Access::kFree:
        key = trail::kFreeKey;
        break;
      case finding::Access::kAtomicRead:
      case finding::Access::kAtomicWrite:
      case finding::Access::kAtomicRmw:
        continue;
    }
    if (key == 0) {
      races_in_library_ = true;
    } else if (!contains(racing_sites_, key) && !contains(new_racing_sites_, key)) {
      new_racing_sites_.push_back(key);
    }
  }
}

/// True: there are new racing accesses.
bool Verifier::note_racing(const finding::RunLogs& logs) {
  if (const finding::ProcessLog* process = logs.process()) {
    for (const finding::RaceRecord& race : process->races) note_racing(logs, race);
  }
  return !new_racing_sites_.empty();
}

/// What was found so far is found again unless a limit ends the exploration; for that case it is kept. A run
/// that did not end is not: perhaps it waited for a variable whose accesses were no steps.
void Verifier::begin_round() {
  racing_sites_.insert(racing_sites_.end(), new_racing_sites_.begin(), new_racing_sites_.end());
  new_racing_sites_.clear();
  probes_long_runs_ = true;
  ++result_.rounds;
  earlier_executions_ += result_.interleavings;
  if (earlier_first_finding_ == 0) earlier_first_finding_ = result_.first_finding;
  for (RacyExecution& racy : result_.racy) {
    if (std::none_of(earlier_races_.begin(), earlier_races_.end(),
                     [&](const RacyExecution& known) { return known.key == racy.key; }))
      earlier_races_.push_back(std::move(racy));
  }
  for (search::Found& found : result_.found) {
    if (found.failure.kind != "no-end" &&
        std::none_of(earlier_failures_.begin(), earlier_failures_.end(),
                     [&](const search::Found& known) { return known.failure.id == found.failure.id; }))
      earlier_failures_.push_back(std::move(found));
  }
}

/// What earlier rounds found and the last one did not.
void Verifier::add_earlier_findings() {
  result_.racing_sites = static_cast<u32>(racing_sites_.size());
  for (RacyExecution& racy : earlier_races_) {
    if (known_races_.count(racy.key) != 0) continue;
    racy.executions = 0;
    result_.racy.push_back(std::move(racy));
  }
  for (search::Found& found : earlier_failures_) {
    if (known_failures_.count(found.failure.id) == 0) result_.found.push_back(std::move(found));
  }
  if (earlier_first_finding_ != 0) result_.first_finding = earlier_first_finding_;
}

}  // namespace duress::verify
