// SPDX-License-Identifier: Apache-2.0
//
// Delta debugging over the deviations of a trail. Leaving one out renumbers every choice after it, so a
// shortened trail is only a proposal: the target follows it as far as it can, and what it then really chose
// is the new trail. That keeps the result exact (it has been run) and lets one lucky proposal drop many
// entries.
//
// What delta debugging leaves is only the least of its own kind: a run that goes to the second thread at once
// and back in the middle of it is not shortened to one that leaves the first in the middle. So beginnings of
// the trail with one new deviation are tried as well; for a result of two switches that proves that one is
// not enough.
//
// A result counts as less if it has fewer switches, or as many switches and fewer deviations: a switch where
// the running thread could have gone on is what a reader must understand; a deviation where it could not is
// only another order.
#include "search/minimiser.h"

#include <algorithm>
#include <utility>

namespace duress::search {
namespace {

exec::Trail without(const exec::Trail& trail, std::size_t from, std::size_t count) {
  exec::Trail rest(trail.begin(), trail.begin() + static_cast<std::ptrdiff_t>(from));
  rest.insert(rest.end(), trail.begin() + static_cast<std::ptrdiff_t>(std::min(from + count, trail.size())),
              trail.end());
  return rest;
}

}  // namespace

bool Minimiser::better(const exec::Trail& candidate) {
  if (ended()) return false;
  ++best_.runs;
  std::optional<Attempt> attempt = replay_(candidate);
  if (!attempt) {
    stopped_ = true;
    return false;
  }
  if (!attempt->same) return false;
  bool less = attempt->switches < best_.switches ||
              (attempt->switches == best_.switches && attempt->trail.size() < best_.trail.size());
  if (!less) return false;
  best_.trail = std::move(attempt->trail);
  best_.switches = attempt->switches;
  choices_ = attempt->choices;
  strands_ = attempt->strands;
  return true;
}

void Minimiser::reduce() {
  std::size_t pieces = 2;
  while (!ended() && best_.trail.size() >= 2) {
    std::size_t size = (best_.trail.size() + pieces - 1) / pieces;
    bool smaller = false;
    // From the end: what comes late is least likely to matter, and leaving it out renumbers nothing.
    std::size_t count = (best_.trail.size() + size - 1) / size;
    for (std::size_t piece = count; piece-- > 0 && !ended();) {
      if (piece * size >= best_.trail.size()) continue;  // it has shrunk meanwhile
      smaller = better(without(best_.trail, piece * size, size)) || smaller;
    }
    if (smaller) {
      pieces = std::max<std::size_t>(2, pieces / 2);
    } else {
      if (size == 1) return;
      pieces *= 2;
    }
  }
}

void Minimiser::polish() {
  for (bool again = true; again && !ended();) {
    again = false;
    for (std::size_t i = best_.trail.size(); i-- > 0 && !ended();) {
      if (i >= best_.trail.size()) continue;
      again = better(without(best_.trail, i, 1)) || again;
    }
    // A thread that is put off and taken up again is two deviations: neither can go alone.
    for (std::size_t i = best_.trail.size(); !again && i-- > 0 && !ended();) {
      if (i + 1 >= best_.trail.size()) continue;
      again = better(without(best_.trail, i, 2)) || again;
    }
  }
}

bool Minimiser::replace() {
  const exec::Trail current = best_.trail;
  // With the shortest beginning first: then the fewest switches are found first.
  for (std::size_t kept = 0; kept + 2 <= best_.switches && kept < current.size(); ++kept) {
    exec::Trail start(current.begin(), current.begin() + static_cast<std::ptrdiff_t>(kept));
    std::vector<u32> places;
    for (u64 choice = kept == 0 ? 0 : u64{start.back().choice} + 1; choice < choices_; ++choice)
      places.push_back(static_cast<u32>(choice));
    // Near a switch that is known to matter first.
    auto distance = [&](u32 choice) {
      u32 least = ~u32{0};
      for (const trail::Deviation& deviation : current)
        least = std::min(least, std::max(choice, deviation.choice) - std::min(choice, deviation.choice));
      return least;
    };
    std::sort(places.begin(), places.end(),
              [&](u32 a, u32 b) { return std::pair(distance(a), a) < std::pair(distance(b), b); });
    for (u32 choice : places) {
      for (u32 strand = 0; strand < strands_; ++strand) {
        if (ended()) return false;
        exec::Trail candidate = start;
        candidate.push_back(trail::Deviation::of(choice, trail::ChoiceKind::kThread, strand));
        if (better(candidate)) return true;
      }
    }
  }
  return false;
}

Minimised Minimiser::run(const exec::Trail& failing) {
  best_ = {};
  stopped_ = false;
  best_.trail = failing;
  best_.switches = ~u64{0};
  best_.confirmed = better(failing);
  if (!best_.confirmed) {
    best_.switches = 0;
    return best_;
  }
  better({});  // it may fail without any, or nearly always
  reduce();
  polish();
  while (replace()) polish();
  best_.complete = !ended();
  return best_;
}

}  // namespace duress::search
