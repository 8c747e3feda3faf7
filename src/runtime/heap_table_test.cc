// SPDX-License-Identifier: Apache-2.0
#include "runtime/heap_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace duress {
namespace {

constexpr uptr kHeap = uptr{0x55} << 40;

class HeapTableTest : public ::testing::Test {
 protected:
  static HeapBlock block(uptr start, u64 size, u32 stack = 7, u32 thread = 1) {
    return {start, size, StackId{stack}, Tid{thread}};
  }
  static void expect_equal(const HeapBlock& a, const HeapBlock& b) {
    EXPECT_EQ(a.start, b.start);
    EXPECT_EQ(a.size, b.size);
    EXPECT_EQ(a.stack, b.stack);
    EXPECT_EQ(a.thread, b.thread);
  }
  /// Is found and removed as it was inserted, and is gone then.
  void keeps(const HeapBlock& b) {
    table_.insert(b);
    expect_equal(table_.find_containing(b.start + b.size - 1), b);
    expect_equal(table_.remove(b.start), b);
    EXPECT_EQ(table_.remove(b.start).start, 0u);
    EXPECT_EQ(table_.find_containing(b.start).start, 0u);
  }

  Arena arena_;
  HeapTable table_{arena_};
};

TEST_F(HeapTableTest, KeepsBlocksOfAnySizeThreadAndStack) {
  for (u64 size : {u64{1}, u64{32}, (u64{1} << 21) - 1, u64{1} << 21, u64{1} << 40})
    keeps(block(kHeap, size));
  for (u32 stack : {0u, (1u << 26) - 1, 1u << 26, ~0u}) keeps(block(kHeap, 64, stack));
  for (u32 thread : {0u, (1u << 14) - 1, 1u << 14, ~0u}) keeps(block(kHeap, 64, 7, thread));
  for (uptr offset : {8, 16, 24, 4, 1}) keeps(block(kHeap + offset, 64));
  keeps(block(uptr{1} << 47, 64));
  keeps(block(64, 64));
}

TEST_F(HeapTableTest, TwoBlocksWithin32Bytes) {
  table_.insert(block(kHeap, 8));
  table_.insert(block(kHeap + 8, 16, 9));
  EXPECT_EQ(table_.find_containing(kHeap + 7).start, kHeap);
  EXPECT_EQ(table_.find_containing(kHeap + 8).start, kHeap + 8);
  EXPECT_EQ(table_.remove(kHeap).size, 8u);
  expect_equal(table_.remove(kHeap + 8), block(kHeap + 8, 16, 9));
}

TEST_F(HeapTableTest, TheSameStartAgainIsAnotherBlock) {
  table_.insert(block(kHeap, 8));
  table_.insert(block(kHeap, 24, 9));
  expect_equal(table_.remove(kHeap), block(kHeap, 24, 9));
  EXPECT_EQ(table_.remove(kHeap).start, 0u);
}

TEST_F(HeapTableTest, AsAMapWouldFindThem) {
  std::mt19937_64 random(1);
  std::map<uptr, HeapBlock> reference;
  for (int step = 0; step < 200000; ++step) {
    const uptr start = kHeap + random() % 4096 * 16;
    auto next = reference.upper_bound(start);
    const uptr room = next == reference.end() ? u64{5} << 20 : next->first - start;
    auto before = next == reference.begin() ? reference.end() : std::prev(next);
    const bool inside = before != reference.end() && start < before->first + before->second.size;
    if (reference.contains(start)) {
      expect_equal(table_.remove(start), reference[start]);
      reference.erase(start);
    } else if (!inside) {
      const u64 most = random() % 8 ? 200 : u64{5} << 20;
      HeapBlock made = block(start, 1 + random() % (room < most ? room : most), step % 1000, step % 20000);
      table_.insert(made);
      reference[start] = made;
    } else if (step % 100 == 0) {
      expect_equal(table_.find_containing(start), before->second);
    }
  }
}

}  // namespace
}  // namespace duress
