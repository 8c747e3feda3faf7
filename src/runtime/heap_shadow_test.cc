// SPDX-License-Identifier: Apache-2.0
#include "runtime/heap_shadow.h"

#include <gtest/gtest.h>

namespace duress {
namespace {

using Found = HeapShadow::Found;
constexpr uptr kStart = 0x555500001010;

TEST(HeapShadow, UnknownMemoryIsFine) {
  HeapShadow shadow;
  EXPECT_EQ(shadow.look(kStart, 8), Found::kFine);
  EXPECT_FALSE(shadow.never_written(kStart, 8));
  EXPECT_FALSE(shadow.begins(kStart));
  EXPECT_EQ(shadow.begin_of(kStart), 0u);
  shadow.wrote(kStart, 100);
  shadow.forget(kStart);
  shadow.freed(kStart);
  EXPECT_EQ(shadow.look(kStart, 1000), Found::kFine);
}

TEST(HeapShadow, EveryByteInsideAndOutside) {
  for (u64 size = 0; size <= 40; ++size) {
    HeapShadow shadow;
    shadow.allocated({kStart, size, 72, true}, HeapCall::kNew, false);
    EXPECT_EQ(shadow.size_of(kStart), size);
    for (uptr at = kStart - 8; at < kStart + 72; ++at) {
      for (u64 bytes : {1, 2, 4, 8, 16}) {
        bool inside = at >= kStart && at + bytes <= kStart + size;
        bool past = at + bytes > kStart + 72;  // ends where nothing is known
        if (inside || !past) {
          EXPECT_EQ(shadow.look(at, bytes), inside ? Found::kFine : Found::kOutside) << size << ' ' << bytes;
        }
      }
      EXPECT_EQ(shadow.begin_of(at), kStart) << at - kStart;
      EXPECT_EQ(shadow.begins(at), at == kStart);
    }
    EXPECT_EQ(shadow.look(kStart - 9, 1), Found::kFine);
    EXPECT_EQ(shadow.look(kStart + 72, 1), Found::kFine);
    EXPECT_EQ(shadow.call_of(kStart), HeapCall::kNew);
  }
}

TEST(HeapShadow, FreedAndForgotten) {
  HeapShadow shadow;
  shadow.allocated({kStart, 20, 56, true}, HeapCall::kMalloc, true);
  const uptr next = kStart + 64;
  shadow.allocated({next, 24, 56, true}, HeapCall::kNewArray, true);
  shadow.freed(kStart);
  EXPECT_TRUE(shadow.is_freed(kStart));
  EXPECT_EQ(shadow.look(kStart, 4), Found::kFreed);
  EXPECT_EQ(shadow.look(kStart + 16, 4), Found::kFreed);
  EXPECT_EQ(shadow.look(kStart + 24, 4), Found::kOutside);
  EXPECT_EQ(shadow.look(next, 24), Found::kFine);
  shadow.forget(kStart);
  EXPECT_EQ(shadow.look(kStart - 8, 64), Found::kFine);
  EXPECT_EQ(shadow.look(next, 25), Found::kOutside);
  EXPECT_EQ(shadow.call_of(next), HeapCall::kNewArray);
}

TEST(HeapShadow, WrittenBytesAreCountedOneByOne) {
  HeapShadow shadow;
  shadow.allocated({kStart, 20, 56, true}, HeapCall::kMalloc, false);
  EXPECT_TRUE(shadow.never_written(kStart, 20));
  EXPECT_FALSE(shadow.never_written(kStart, 21));
  shadow.wrote(kStart + 7, 2);
  EXPECT_TRUE(shadow.never_written(kStart, 7));
  EXPECT_FALSE(shadow.never_written(kStart + 4, 4));
  EXPECT_FALSE(shadow.never_written(kStart + 8, 8));
  EXPECT_TRUE(shadow.never_written(kStart + 9, 11));
  shadow.freed(kStart);
  EXPECT_FALSE(shadow.never_written(kStart + 9, 1));
}

TEST(HeapCall, PairsThatBelongTogether) {
  EXPECT_TRUE(belong_together(HeapCall::kCalloc, HeapCall::kMalloc));
  EXPECT_TRUE(belong_together(HeapCall::kUnknown, HeapCall::kNewArray));
  EXPECT_FALSE(belong_together(HeapCall::kNew, HeapCall::kNewArray));
  EXPECT_FALSE(belong_together(HeapCall::kNew, HeapCall::kMalloc));
}

}  // namespace
}  // namespace duress
