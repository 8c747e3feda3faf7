// SPDX-License-Identifier: Apache-2.0
#include "finding/failure.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>

#include "base/hash.h"
#include "finding/text.h"
#include "trail/outcome.h"

namespace duress::finding {
namespace {

/// A place without its line. Where there is no name, the address in the file: it holds for this build.
std::string place_key(const finding::Frame& frame) {
  if (!frame.function.empty() || !frame.file.empty()) return base_name(frame.file) + '\1' + frame.function;
  if (frame.module_offset == 0) return {};
  return base_name(frame.module) + '\1' + std::to_string(frame.module_offset);
}

finding::Frame blamed(const finding::ProcessLog& process, const std::vector<Address>& stack, Names& names) {
  std::vector<finding::Frame> frames = names.stack(process, stack);
  return frames.empty() ? finding::Frame{} : frames[blamed_frame(frames)];
}

/// Where the thread's work begins in the user's code. A thread without end is stopped anywhere in its loop,
/// but this stays the same.
finding::Frame body_of(const finding::ProcessLog& process, const std::vector<Address>& stack, Names& names) {
  std::vector<finding::Frame> frames = names.stack(process, stack);
  for (std::size_t i = frames.size(); i-- > 0;) {
    if (!frames[i].library && !frames[i].file.empty() && !frames[i].function.empty()) return frames[i];
  }
  return {};
}

/// The strands that wait for each other in a circle; empty if nobody does.
std::set<int> cycle_of(const Stuck& stuck) {
  std::map<int, std::vector<int>> waits_for;
  for (const StuckStrand& strand : stuck.strands) {
    if (strand.state == "blocked") waits_for[strand.strand] = strand.held_by;
  }
  // What cannot reach itself is on no circle. The graphs are small: a node per thread.
  std::set<int> on_cycle;
  for (const auto& [start, first] : waits_for) {
    std::set<int> seen;
    std::vector<int> todo = first;
    while (!todo.empty()) {
      int at = todo.back();
      todo.pop_back();
      if (!seen.insert(at).second) continue;
      if (auto it = waits_for.find(at); it != waits_for.end())
        todo.insert(todo.end(), it->second.begin(), it->second.end());
    }
    if (seen.count(start) != 0) on_cycle.insert(start);
  }
  return on_cycle;
}

}  // namespace

std::vector<const StuckStrand*> waiting_strands(const Stuck& stuck) {
  std::set<int> cycle = cycle_of(stuck);
  std::vector<const StuckStrand*> first, rest;
  for (const StuckStrand& strand : stuck.strands) {
    if (strand.state == "ended") continue;
    (cycle.count(strand.strand) != 0 ? first : rest).push_back(&strand);
  }
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

void identify(Failure& failure, const RunLogs& logs, Names& names) {
  const finding::ProcessLog* process = logs.process();
  std::string where;
  if (process != nullptr && logs.stuck && (failure.kind == "deadlock" || failure.kind == "no-end")) {
    std::set<int> cycle = cycle_of(*logs.stuck);
    std::set<std::string> places;
    for (const StuckStrand* strand : waiting_strands(*logs.stuck)) {
      finding::Frame frame = blamed(*process, strand->stack, names);
      if (failure.place.file.empty()) failure.place = frame;
      // With a cycle, who else happened to be waiting is chance. A run without end stops anywhere.
      if (failure.kind == "deadlock" && (cycle.empty() || cycle.count(strand->strand) != 0))
        places.insert(strand->operation + '\1' + place_key(frame));
      if (failure.kind == "no-end" && strand->state != "blocked")
        places.insert(place_key(body_of(*process, strand->stack, names)));
    }
    for (const std::string& place : places) where += '\2' + place;
  } else if (process != nullptr && logs.memory && failure.kind == logs.memory->what) {
    failure.place = names.race(*process, logs.memory->accesses).sites[1].site();
    where = place_key(failure.place);
  } else if (process != nullptr && logs.stuck && !logs.stuck->strands.empty() &&
             std::any_of(std::begin(trail::kMisuses), std::end(trail::kMisuses),
                         [&](const trail::Misuse& misuse) { return failure.kind == misuse.word; })) {
    failure.place = blamed(*process, logs.stuck->strands[0].stack, names);
    where = place_key(failure.place);
  } else if (process != nullptr && !process->crashes.empty()) {
    const std::vector<Address>& stack = process->crashes.back().stack;
    finding::Frame frame = blamed(*process, stack, names);
    bool named = !failure.place.file.empty();  // by the assertion's own text, which has no folder
    if (!named || base_name(failure.place.file) == base_name(frame.file)) failure.place = frame;
    if (failure.kind.rfind("signal:", 0) == 0 || failure.kind.rfind("exit:", 0) == 0)
      where = place_key(frame);
  }
  failure.identity = failure.kind + '\0' + failure.detail + '\0' + where;
  failure.id = failure_id(failure.identity);
}

std::string failure_id(const std::string& identity, int digits) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash_of(identity)));
  return "F-" + std::string(text, static_cast<std::size_t>(digits));
}

}  // namespace duress::finding
