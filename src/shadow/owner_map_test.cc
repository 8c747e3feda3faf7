// SPDX-License-Identifier: Apache-2.0
#include "shadow/owner_map.h"

#include <gtest/gtest.h>

namespace duress {
namespace {

TEST(OwnerMap, OwnersOnlyGrowUntilTheMemoryIsFresh) {
  Arena arena;
  auto* map = new OwnerMap(arena);
  EXPECT_EQ(map->owner(0x7f0000001238), 0);
  map->pass_on(0x7f0000001238, 2);
  map->pass_on(0x7f0000001238, 1);
  EXPECT_EQ(map->owner(0x7f000000123f), 2);
  EXPECT_EQ(map->owner(0x7f0000001240), 0);
  map->clear(0x7f0000001000, 0x7f0000002000);
  EXPECT_EQ(map->owner(0x7f0000001238), 0);
  delete map;
}

}  // namespace
}  // namespace duress
