// SPDX-License-Identifier: Apache-2.0
#include "clock/lock_set.h"

#include <gtest/gtest.h>

namespace duress {
namespace {

TEST(LockSets, AddAndRemove) {
  Arena arena;
  LockSets sets(arena);
  HeldLock m{0x1000, false}, n{0x2000, true};
  LockSetId one = sets.add(LockSetId{0}, m);
  LockSetId two = sets.add(one, n);
  EXPECT_EQ(sets.add(LockSetId{0}, m), one) << "equal sets are one number";
  EXPECT_EQ(sets.remove(two, n), one);
  EXPECT_EQ(sets.remove(one, m), LockSetId{0});
  EXPECT_EQ(sets.remove(one, n), one) << "a lock that is not held";
  u32 count;
  const HeldLock* held = sets.locks(sets.remove(two, m), &count);
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(held[0], n);
}

TEST(LockSets, RecursiveLocksAreCounted) {
  Arena arena;
  LockSets sets(arena);
  HeldLock m{0x1000, false};
  LockSetId twice = sets.add(sets.add(LockSetId{0}, m), m);
  EXPECT_EQ(sets.remove(twice, m), sets.add(LockSetId{0}, m));
}

}  // namespace
}  // namespace duress
