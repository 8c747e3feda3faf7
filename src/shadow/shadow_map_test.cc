// SPDX-License-Identifier: Apache-2.0
#include "shadow/shadow_map.h"

#include <gtest/gtest.h>

namespace duress {
namespace {

TEST(Cell, WordsKeepTheirParts) {
  Word w{123456, 77, 0xa5, true, false, false};
  Word d = Word::decode(w.encode());
  EXPECT_EQ(d.id, 123456u);
  EXPECT_EQ(d.old, 77u);
  EXPECT_EQ(d.rest, 0xa5);
  EXPECT_TRUE(d.spilled);
  EXPECT_FALSE(d.sync);
  EXPECT_TRUE(Word::decode((Word{kIdMask, kIdMask, 0xff, false, false, true}).encode()).sync);
}

TEST(Cell, TwoAccessesOfOneEpochKeepTheirBytesAndShowNoRest) {
  Word w{1000, 1007, 0xf0, false, false, true};  // one chunk: 768 to 1023
  u64 word = w.encode_one_epoch();
  EXPECT_EQ(word & 0xff, 0u);
  Word d = Word::decode(word);
  EXPECT_EQ(d.id, 1000u);
  EXPECT_EQ(d.old, 1007u);
  EXPECT_EQ(d.rest, 0xf0);
  EXPECT_TRUE(d.sync);
  EXPECT_FALSE(d.spilled);
}

TEST(ShadowMap, CellsOfDistantAddressesAreDifferentAndStable) {
  ShadowMap map;
  ASSERT_TRUE(map.open(0));
  Cell* a = map.cell(0x400010);
  Cell* b = map.cell(0x555555554010);
  Cell* c = map.cell(0x7fffffffe018);
  EXPECT_NE(a, b);
  EXPECT_NE(b, c);
  EXPECT_EQ(map.cell(0x400017), a);
  EXPECT_EQ(map.cell(0x400018), a + 1);
  a->write.store(5 << 12);
  EXPECT_EQ(map.cell(0x400010)->write.load(), 5u << 12);
  EXPECT_EQ(b->write.load(), 0u);
  map.close();
}

TEST(ShadowMap, ClearForgetsExactlyTheRange) {
  ShadowMap map;
  ASSERT_TRUE(map.open(0));
  constexpr uptr kBase = 0x7f0000000000;
  for (uptr at = kBase; at < kBase + 0x40000; at += 8) {
    map.cell(at)->read.store(1 << 12);
    map.mark_touched(at);
  }
  map.clear(kBase + 8, kBase + 0x30010);
  EXPECT_NE(map.cell(kBase)->read.load(), 0u);
  EXPECT_EQ(map.cell(kBase + 8)->read.load(), 0u);
  EXPECT_EQ(map.cell(kBase + 0x12340)->read.load(), 0u);
  EXPECT_EQ(map.cell(kBase + 0x30008)->read.load(), 0u);
  EXPECT_NE(map.cell(kBase + 0x30010)->read.load(), 0u);
  int blocks = 0;
  map.each_block([&](Cell*, Cell*, uptr) { ++blocks; });
  EXPECT_EQ(blocks, 2) << "whole blocks are forgotten, the first and the last were cleared in part";
  map.close();
}

}  // namespace
}  // namespace duress
