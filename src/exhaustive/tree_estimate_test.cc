// SPDX-License-Identifier: Apache-2.0
#include "exhaustive/tree_estimate.h"

#include <gtest/gtest.h>

#include "base/prng.h"
#include "base/scoped_arena.h"

namespace duress::exhaustive {
namespace {

/// Explores a tree with `width` branches at each of `depth` levels and calls seen(executions so far).
template <typename Seen>
void explore(TreeEstimate& tree, u32 width, u32 depth, u64& executions, Seen seen) {
  ++executions;
  tree.learned(true, depth ? width : 0);
  seen(executions);
  for (u32 i = 0; depth && i < width; ++i) explore(tree, width, depth - 1, executions, seen);
}

TEST(TreeEstimate, IsExactAtTheEnd) {
  for (u32 width : {1, 2, 3}) {
    for (u32 depth : {0, 1, 4}) {
      ScopedArena arena;
      TreeEstimate tree(arena);
      u64 executions = 0;
      explore(tree, width, depth, executions, [&](u64 count) {
        Estimate now = tree.estimate();
        EXPECT_LE(static_cast<double>(count), now.low);
        EXPECT_LE(now.low, now.executions + 1e-9);
        EXPECT_LE(now.executions, now.high + 1e-9);
      });
      Estimate end = tree.estimate();
      EXPECT_DOUBLE_EQ(end.executions, static_cast<double>(executions));
      EXPECT_DOUBLE_EQ(end.low, end.high);
    }
  }
}

TEST(TreeEstimate, OfAnEvenTreeIsRightAfterTheFirstLeaf) {
  ScopedArena arena;
  TreeEstimate tree(arena);
  u64 executions = 0;
  double at_first_leaf = 0;
  explore(tree, 3, 5, executions, [&](u64 count) {
    if (count == 6 + 3) at_first_leaf = tree.estimate().executions;
  });
  EXPECT_EQ(executions, 364u);
  EXPECT_DOUBLE_EQ(at_first_leaf, 364);
}

TEST(TreeEstimate, ExecutionsThatDoNotCountAreLeftOut) {
  ScopedArena arena;
  TreeEstimate tree(arena);
  tree.learned(true, 2);
  tree.learned(false, 0);
  EXPECT_DOUBLE_EQ(tree.estimate().low, 2);
  tree.learned(true, 0);
  EXPECT_DOUBLE_EQ(tree.estimate().executions, 2);
}

}  // namespace
}  // namespace duress::exhaustive
