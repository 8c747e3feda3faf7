// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include <gtest/gtest.h>
#include <string.h>

#include <set>

namespace duress {
namespace {

TEST(Arena, BlocksDoNotOverlapAndAreReused) {
  Arena arena;
  std::set<char*> seen;
  for (int i = 0; i < 1000; ++i) {
    auto* p = static_cast<char*>(arena.allocate(100));
    EXPECT_EQ(reinterpret_cast<uptr>(p) % 16, 0u);
    memset(p, i, 100);
    EXPECT_TRUE(seen.insert(p).second);
  }
  for (char* p : seen) arena.free(p, 100);
  size_t mapped = arena.mapped_bytes();
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.count(static_cast<char*>(arena.allocate(128))));
  EXPECT_EQ(arena.mapped_bytes(), mapped);
  arena.release_all();
}

TEST(Arena, LargeBlocksHaveMappingsOfTheirOwn) {
  Arena arena;
  auto* p = static_cast<char*>(arena.allocate(size_t{5} << 20));
  p[0] = 1;
  p[(size_t{5} << 20) - 1] = 1;
  EXPECT_GE(arena.mapped_bytes(), size_t{5} << 20);
  arena.release_all();
}

}  // namespace
}  // namespace duress
