// SPDX-License-Identifier: Apache-2.0
#include "memory/sc_order.h"

#include <gtest/gtest.h>

#include "base/scoped_arena.h"

namespace duress::memory {
namespace {

using Nodes = ScOrder::Nodes;

class ScOrderTest : public ::testing::Test {
 protected:
  Nodes operation(u32 slot, Clock epoch, Nodes before = 0, Nodes after = 0) {
    order_.make_room();
    return order_.add_operation(static_cast<Slot>(slot), epoch, before, after);
  }
  Nodes fence(u32 slot, Clock epoch, std::initializer_list<Clock> known, Nodes before = 0) {
    order_.make_room();
    VectorClock clock(arena_);
    fill(clock, known);
    return order_.add_fence(static_cast<Slot>(slot), epoch, clock, before);
  }
  static void fill(VectorClock& clock, std::initializer_list<Clock> known) {
    u32 i = 0;
    for (Clock value : known) clock.set(static_cast<Slot>(i++), value);
  }
  Nodes met_before(std::initializer_list<Clock> known) {
    VectorClock clock(arena_);
    fill(clock, known);
    return order_.met_before(clock);
  }
  bool allows(Nodes from, Nodes to) { return order_.allows(from, false, {to, false}); }

  ScopedArena arena_;
  ScOrder order_{arena_};
};

TEST_F(ScOrderTest, IsClosed) {
  Nodes a = operation(0, 1), b = operation(1, 1), c = operation(2, 1);
  EXPECT_TRUE(allows(c, a));
  order_.connect(a, b);
  order_.connect(b, c);
  EXPECT_FALSE(allows(c, a));
  EXPECT_FALSE(allows(a, a));
  EXPECT_TRUE(allows(a, c));
  Nodes between = operation(3, 1, a, c);
  EXPECT_FALSE(allows(between, a));
  EXPECT_TRUE(allows(between, b));
  order_.connect(b, between);
  EXPECT_FALSE(allows(between, a | b));
}

TEST_F(ScOrderTest, WhatIsSettledPrecedesTheRest) {
  ScOrder::Kept kept;
  Nodes first = operation(0, 1);
  order_.add(kept, first);
  for (u32 i = 0; i < ScOrder::kMost; ++i) operation(0, 2 + i);
  EXPECT_EQ(order_.settled(), 1u);
  EXPECT_EQ(order_.look(kept), 0u);
  EXPECT_TRUE(kept.settled);
  EXPECT_FALSE(order_.allows(operation(1, 1), false, {0, kept.settled}));
  // Its number belongs to another now, which may be in the same set.
  order_.add(kept, first);
  EXPECT_EQ(order_.look(kept), first);
}

TEST_F(ScOrderTest, OnlyWhatNothingPrecedesIsSettled) {
  ScOrder::Kept old, young;
  Nodes a = operation(0, 1);
  Nodes b = operation(1, 1, 0, a);  // executed later, comes first
  order_.add(old, a);
  order_.add(young, b);
  for (u32 i = 2; i < ScOrder::kMost; ++i) operation(2, i, a);
  operation(2, 100, a);
  EXPECT_EQ(order_.look(old), a);
  EXPECT_EQ(order_.look(young), 0u);
  operation(2, 101);
  EXPECT_EQ(order_.look(old), 0u);
}

TEST_F(ScOrderTest, FencesFollowWhatTheirPastHasMet) {
  Nodes a = operation(0, 1);
  order_.met(a, Slot{1}, 5);
  EXPECT_EQ(met_before({0, 4}), 0u);
  EXPECT_EQ(met_before({0, 5}), a);
  order_.met(a, Slot{1}, 3);  // an earlier event turns out to come after it too
  EXPECT_EQ(met_before({0, 4}), a);
  order_.met(a, Slot{1}, 9);
  EXPECT_EQ(met_before({0, 3}), a);
}

TEST_F(ScOrderTest, WhatHappensBeforeAndAfterFences) {
  Nodes f = fence(0, 4, {4, 2});
  Nodes w = operation(1, 7);
  VectorClock clock(arena_);
  fill(clock, {3, 7});
  EXPECT_EQ(order_.fences_known_to(clock), 0u);
  EXPECT_EQ(order_.operations_before(clock), 0u);  // it knows the operation, and nothing after it
  fill(clock, {4, 8});
  EXPECT_EQ(order_.fences_known_to(clock), f);
  EXPECT_EQ(order_.operations_before(clock), w);
  ScOrder::After after;
  order_.add_fences_after(Slot{1}, 3, after);
  EXPECT_TRUE(after.none());
  order_.add_fences_after(Slot{1}, 2, after);
  EXPECT_EQ(after.nodes, f);
  EXPECT_FALSE(order_.settled_fence_known_to(clock));

  order_.settle_all();
  EXPECT_TRUE(order_.settled_fence_known_to(clock));
  ScOrder::After later;
  order_.add_fences_after(Slot{1}, 3, later);
  EXPECT_TRUE(later.none());
  order_.add_fences_after(Slot{1}, 2, later);
  EXPECT_TRUE(later.settled);
  EXPECT_FALSE(order_.allows(0, true, later));
  EXPECT_TRUE(order_.allows(0, false, later));
}

}  // namespace
}  // namespace duress::memory
