// SPDX-License-Identifier: Apache-2.0
#include "clock/sync_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace duress {
namespace {

std::vector<uptr> overlapping(SyncTable& table, uptr address, u32 size) {
  std::vector<uptr> found;
  table.each_overlapping(address, size, [&](SyncObject* object) { found.push_back(object->address); });
  return found;
}

TEST(SyncTable, OverlappingAtomics) {
  Arena arena;
  SyncTable table(arena);
  for (uptr address : {uptr{0x1000}, uptr{0x1008}, uptr{0x1010}}) table.get(address, 8);
  table.get(0x1004, 4);
  table.get(0x0ff8, 16);
  EXPECT_EQ(overlapping(table, 0x1000, 4), (std::vector<uptr>{0x0ff8, 0x1000}));
  EXPECT_EQ(overlapping(table, 0x100c, 8), (std::vector<uptr>{0x1008, 0x1010}));
  EXPECT_EQ(overlapping(table, 0x1018, 8), std::vector<uptr>{});
}

/// Only damaged traces have atomics there; the granules after it begin with address 0 again.
TEST(SyncTable, TheLastGranuleOfMemoryHasNoNext) {
  Arena arena;
  SyncTable table(arena);
  const uptr last = ~uptr{7};
  table.get(last, 4);
  EXPECT_EQ(overlapping(table, last, 4), std::vector<uptr>{last});
  EXPECT_EQ(overlapping(table, last + 2, 2), std::vector<uptr>{last});
}

}  // namespace
}  // namespace duress
