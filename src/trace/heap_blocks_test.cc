// SPDX-License-Identifier: Apache-2.0
#include "trace/heap_blocks.h"

#include <gtest/gtest.h>

#include <map>

#include "base/prng.h"

namespace duress::trace {
namespace {

TEST(HeapBlocks, KnowsWhatAnOrdinaryMapKnows) {
  Prng random(11);
  HeapBlocks blocks;
  std::map<uptr, HeapBlocks::Entry> expected;
  for (u32 step = 0; step < 200'000; ++step) {
    uptr start = 0x10000 + random.below(20'000) * 64;
    if (random.below(3) != 0) {
      HeapBlocks::Entry block{start, random.below(65), static_cast<Tid>(step),
                              static_cast<StackId>(step + 1)};
      blocks.add(block);
      expected[start] = block;
    } else {
      blocks.remove(start);
      expected.erase(start);
    }
    if (step % 997 != 0) continue;
    uptr address = start + random.below(64);
    auto found = blocks.find(address);
    auto it = expected.find(start);
    bool holds = it != expected.end() && address - start < std::max<u64>(it->second.size, 1);
    ASSERT_EQ(found.has_value(), holds) << step;
    if (!holds) continue;
    EXPECT_EQ(found->start, start);
    EXPECT_EQ(found->size, it->second.size);
    EXPECT_EQ(found->thread, it->second.thread);
    EXPECT_EQ(found->stack, it->second.stack);
  }
}

}  // namespace
}  // namespace duress::trace
