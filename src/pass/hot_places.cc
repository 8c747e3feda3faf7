// SPDX-License-Identifier: Apache-2.0
#include "pass/hot_places.h"

#include <algorithm>
#include <vector>

namespace duress::pass {
namespace {

constexpr size_t kFew = 4;    // in a function that is small enough to be hot as a whole
constexpr size_t kMost = 12;  // in a function with loops
// Blocks, before there are tests. A loop that is larger is a program's state machine or its main loop rather
// than what its time passes in: memcached's drive_machine() has 220.
constexpr unsigned kSmallLoop = 20;

bool is_small(const llvm::Loop& loop) {
  return loop.getNumBlocks() <= kSmallLoop;
}

}  // namespace

bool has_small_loop(llvm::LoopInfo& loops) {
  return llvm::any_of(loops.getLoopsInPreorder(), [](const llvm::Loop* loop) { return is_small(*loop); });
}

Places choose_hot(llvm::ArrayRef<const llvm::Instruction*> places, llvm::LoopInfo& loops) {
  if (places.size() <= kFew) return {places.begin(), places.end()};
  std::vector<std::pair<unsigned, const llvm::Instruction*>> ranked;  // by the blocks of the innermost loop
  for (const llvm::Instruction* place : places) {
    llvm::Loop* loop = loops.getLoopFor(place->getParent());
    if (loop != nullptr && is_small(*loop)) ranked.emplace_back(loop->getNumBlocks(), place);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](auto& a, auto& b) { return a.first < b.first; });
  Places hot;
  for (auto [blocks, place] : ranked) {
    if (hot.size() == kMost) break;
    hot.insert(place);
  }
  return hot;
}

}  // namespace duress::pass
