// SPDX-License-Identifier: Apache-2.0
//
// Fixes for which no what-if edit stands: several accesses as one critical section (what is tested is still
// true when it is used), a sum that becomes one atomic operation, a mutex that is not there yet. Each is
// made, the program is built with it, and all interleavings of that program are explored.
#include <filesystem>

#include "repair/proposal.h"
#include "repair/rebuild.h"

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

}  // namespace

std::optional<Advice> advise_in_source(const verify::VerifySetup& setup, const verify::VerifyResult& result,
                                       const std::vector<RaceView>& all, finding::Names& names,
                                       const std::atomic<bool>& stop) {
  std::string program = program_of(setup);
  int number = 0;
  for (Candidate& candidate : candidates(all)) {
    if (stop) break;
    Advice advice;
    advice.edits = rewrite(program, candidate.change, advice.problem);
    if (advice.edits.empty()) continue;
    // A folder each: names of a program are remembered by its path.
    std::string folder = setup.worker.folder + "/source" + std::to_string(number++);
    std::string changed = rebuild(program, advice.edits, folder, advice.problem);
    std::optional<verify::VerifyResult> tried;
    if (!changed.empty()) {
      verify::VerifySetup again = setup;
      again.worker.target[0] = changed;
      again.worker.folder = folder + "/verify";
      again.keeps = again.minimise = again.profile_atomics = false;
      again.stops_at_first = true;
      again.most_executions = std::min(setup.most_executions, result.interleavings * 20 + 2000);
      tried = verify::Verifier(std::move(again), names, nullptr).run(stop);
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    if (!tried || tried->problem.kind != exec::WorkerProblem::Kind::kNone || !tried->complete ||
        !tried->racy.empty() || !tried->found.empty())
      continue;
    advice.kind = candidate.change.kind == "atomic" ? "atomic" : "lock";
    advice.text = candidate.text;
    advice.interleavings = tried->interleavings;
    advice.rebuilt = true;
    return advice;
  }
  return std::nullopt;
}

}  // namespace duress::repair
