// SPDX-License-Identifier: Apache-2.0
#include "pass/loop_groups.h"

#include <algorithm>

namespace duress::pass {
namespace {

/// The distance from each access to the next, if that is always the same and the iterations join without a
/// gap; else 0.
int64_t spacing_of(const std::vector<MovingAccess*>& accesses, int64_t step) {
  if (accesses.size() < 2) return step;
  int64_t spacing = accesses[1]->offset - accesses[0]->offset;
  if (spacing <= 0 || step % spacing != 0 || static_cast<int64_t>(accesses.size()) < step / spacing) return 0;
  for (size_t i = 2; i < accesses.size(); ++i) {
    if (accesses[i]->offset - accesses[i - 1]->offset != spacing) return 0;
  }
  return spacing;
}

unsigned line(MovingAccess* moving) {
  const llvm::DebugLoc& location = moving->check->access.inst->getDebugLoc();
  return location ? location.getLine() : 0;
}

}  // namespace

std::vector<Row> rows(Group& group, bool write) {
  std::vector<std::vector<MovingAccess*>> alike;
  for (MovingAccess& moving : group.accesses) {
    if (moving.check->before == nullptr || moving.check->access.write != write) continue;
    auto same = llvm::find_if(alike, [&](const std::vector<MovingAccess*>& others) {
      return others.front()->check->access.size == moving.check->access.size &&
             others.front()->variable == moving.variable && line(others.front()) == line(&moving);
    });
    if (same == alike.end()) same = alike.insert(alike.end(), std::vector<MovingAccess*>());
    same->push_back(&moving);
  }
  std::vector<Row> result;
  int64_t step = std::abs(group.step);
  for (std::vector<MovingAccess*>& accesses : alike) {
    llvm::stable_sort(accesses, [](MovingAccess* a, MovingAccess* b) { return a->offset < b->offset; });
    if (int64_t spacing = spacing_of(accesses, step)) {
      result.push_back({spacing, accesses});
      continue;
    }
    for (MovingAccess* moving : accesses) result.push_back({step, {moving}});
  }
  return result;
}

std::vector<Chunk> chunks(Group& group, bool write) {
  std::vector<MovingAccess*> sorted;
  for (MovingAccess& moving : group.accesses) {
    if (moving.check->before != nullptr && moving.check->access.write == write) sorted.push_back(&moving);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](MovingAccess* a, MovingAccess* b) { return a->offset < b->offset; });
  std::vector<Chunk> result;
  for (MovingAccess* moving : sorted) {
    int64_t end = moving->offset + static_cast<int64_t>(moving->check->access.size);
    bool joined = false;
    for (Chunk& chunk : result) {
      MovingAccess* last = chunk.accesses.back();
      if (moving->offset > chunk.end || last->variable != moving->variable) continue;
      bool whole =
          chunk.end - chunk.begin >= std::abs(group.step) && end - moving->offset >= std::abs(group.step);
      if (whole && line(last) != line(moving)) continue;
      chunk.end = std::max(chunk.end, end);
      chunk.accesses.push_back(moving);
      joined = true;
      break;
    }
    if (!joined) result.push_back({moving->offset, end, {moving}});
  }
  std::erase_if(result, [&](const Chunk& chunk) { return chunk.end - chunk.begin < std::abs(group.step); });
  return result;
}

}  // namespace duress::pass
