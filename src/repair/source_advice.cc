// SPDX-License-Identifier: Apache-2.0
//
// Fixes for which no what-if edit stands: several accesses as one critical section (what is tested is still
// true when it is used), a sum that becomes one atomic operation, a mutex that is not there yet. Each is
// made, the program is built with it, and all interleavings of that program are explored; of one that has too
// many, thousands of schedules are run instead, and the fix says so.
#include <filesystem>

#include "repair/proposal.h"
#include "repair/rebuild.h"
#include "repair/schedules.h"

namespace duress::repair {
namespace {

/// A change and how it is described.
struct Candidate {
  SourceChange change;
  std::string text;
};

std::string places_text(const std::vector<SourceChange::Place>& places) {
  std::set<std::string> names;
  for (const SourceChange::Place& place : places) names.insert(place_text(place.frame));
  return listed(names);
}

/// The accesses of the races; those that hold the lock already are left out.
std::vector<SourceChange::Place> places_without(const std::vector<RaceView>& all, finding::Address lock) {
  std::set<SourceChange::Place> places;
  for (const RaceView& race : all) {
    for (const Side& side : race.sides) {
      if (side.locks.count(lock) == 0) places.insert({side.place, race.variable});
    }
  }
  return {places.begin(), places.end()};
}

std::vector<Candidate> candidates(const std::vector<RaceView>& all) {
  std::vector<Candidate> list;
  std::map<finding::Address, std::string> locks;
  std::set<std::string> variables;
  for (const RaceView& race : all) {
    variables.insert(race.variable);
    for (const Side& side : race.sides) locks.insert(side.locks.begin(), side.locks.end());
  }
  for (const auto& [address, name] : locks) {
    Candidate held;
    held.change = {.kind = "lock", .mutex = name, .places = places_without(all, address)};
    held.text = "hold " + name + " over " + places_text(held.change.places) + ", as one critical section";
    list.push_back(std::move(held));
  }
  Candidate atomic;
  atomic.change = {.kind = "atomic", .places = places_without(all, 0)};
  atomic.text = "make " + listed(variables) + " atomic, and its updates single operations";
  list.push_back(std::move(atomic));
  Candidate added;
  added.change = {.kind = "new-lock", .places = places_without(all, 0)};
  added.text = "add a mutex for " + listed(variables) + " and hold it at " + places_text(added.change.places);
  list.push_back(std::move(added));
  return list;
}

/// How the changed program was checked; nothing: it has a race or a failure, or could not be checked.
struct Tried {
  u64 interleavings = 0, schedules = 0;
};

std::optional<Tried> explore_changed(const verify::VerifySetup& changed, const verify::VerifyResult& base,
                                     finding::Names& names, const std::atomic<bool>& stop) {
  verify::VerifySetup again = changed;
  again.keeps = again.minimise = again.profile_atomics = false;
  again.stops_at_first = true;
  again.reads_from = false;
  again.most_executions = std::min(changed.most_executions, base.interleavings * 20 + 2000);
  verify::VerifyResult result = verify::Verifier(std::move(again), names, nullptr).run(stop);
  if (result.problem.kind != exec::WorkerProblem::Kind::kNone || !result.complete || !result.racy.empty() ||
      !result.found.empty())
    return std::nullopt;
  return Tried{result.interleavings, 0};
}

std::optional<Tried> run_changed(const verify::VerifySetup& changed, const verify::VerifyResult& base,
                                 finding::Names& names, const std::atomic<bool>& stop) {
  Schedules result = run_schedules(changed, changed.seed, schedules_for(base.most_steps),
                                   /*stops_at_first=*/true, names, stop);
  if (!result.done || result.failed != 0 || !result.racy.empty()) return std::nullopt;
  return Tried{0, result.runs};
}

}  // namespace

std::optional<Advice> advise_in_source(const verify::VerifySetup& setup, const verify::VerifyResult& result,
                                       std::vector<RaceView> all, finding::Names& names,
                                       const std::atomic<bool>& stop) {
  std::string program = program_of(setup);
  if (!result.complete) {
    // What was explored of a large program lies in one corner: schedules show races elsewhere, too.
    Schedules more = run_schedules(setup, setup.seed, schedules_for(result.most_steps),
                                   /*stops_at_first=*/false, names, stop);
    if (!more.done) return std::nullopt;
    for (const verify::RacyExecution& racy : more.racy) all.push_back(view_of(racy, names));
  }
  int number = 0;
  for (Candidate& candidate : candidates(all)) {
    if (stop) break;
    Advice advice;
    advice.edits = rewrite(program, candidate.change, advice.problem);
    if (advice.edits.empty()) continue;
    // A folder each: names of a program are remembered by its path.
    std::string folder = setup.worker.folder + "/source" + std::to_string(number++);
    verify::VerifySetup changed = setup;
    changed.worker.target[0] = rebuild(program, advice.edits, folder, advice.problem);
    changed.worker.folder = folder + "/verify";
    std::optional<Tried> tried;
    if (!changed.worker.target[0].empty())
      tried = result.complete ? explore_changed(changed, result, names, stop)
                              : run_changed(changed, result, names, stop);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    if (!tried) continue;
    advice.kind = candidate.change.kind == "atomic" ? "atomic" : "lock";
    advice.text = candidate.text;
    advice.interleavings = tried->interleavings;
    advice.schedules = tried->schedules;
    advice.rebuilt = true;
    return advice;
  }
  return std::nullopt;
}

}  // namespace duress::repair
