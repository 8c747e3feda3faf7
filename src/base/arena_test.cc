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

TEST(Arena, BlocksOfALineAreAlignedToItWhateverCameBefore) {
  Arena arena;
  std::set<uptr> used;  // 16 bytes each
  const size_t sizes[] = {16, 64, 32, 100, 16, 1000, 48, 64, 8, 4096};
  for (size_t i = 0; i < 2000; ++i) {
    const size_t bytes = sizes[i % 10];
    const auto p = reinterpret_cast<uptr>(arena.allocate(bytes));
    EXPECT_EQ(p % (bytes >= 64 ? 64 : 16), 0u) << bytes;
    for (uptr at = p; at < p + bytes; at += 16) EXPECT_TRUE(used.insert(at).second) << bytes;
  }
  struct alignas(64) Wide {
    char bytes[64];
  };
  EXPECT_EQ(reinterpret_cast<uptr>(arena.make<Wide>()) % 64, 0u);
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
