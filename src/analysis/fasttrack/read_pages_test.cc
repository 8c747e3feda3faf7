// SPDX-License-Identifier: Apache-2.0
#include "analysis/fasttrack/read_pages.h"

#include <gtest/gtest.h>

#include <set>

namespace duress {
namespace {

constexpr uptr kMemory = uptr{1} << 40;

class ReadPagesTest : public ::testing::Test {
 protected:
  std::set<u64> words_of(uptr granule) {
    std::set<u64> found;
    pages_.each(granule, [&](ReadPageWord& word) { found.insert(word.load()); });
    return found;
  }

  ReadPages pages_;
};

TEST_F(ReadPagesTest, ThereIsNothingUntilItIsMade) {
  EXPECT_EQ(pages_.find(Slot{0}, kMemory), nullptr);
  EXPECT_TRUE(words_of(kMemory).empty());
  ReadPageWord* word = pages_.make(Slot{0}, kMemory);
  ASSERT_NE(word, nullptr);
  EXPECT_EQ(word->load(), 0u);
  EXPECT_EQ(pages_.find(Slot{0}, kMemory), word);
  EXPECT_EQ(pages_.make(Slot{0}, kMemory), word);
  EXPECT_EQ(pages_.find(Slot{1}, kMemory), nullptr);
  EXPECT_EQ(pages_.find(Slot{0}, kMemory + 4096), nullptr);
}

TEST_F(ReadPagesTest, WordsStayWhereTheyAreWhileOtherSlotsAreAdded) {
  std::vector<ReadPageWord*> words;
  std::set<u64> values;
  for (u32 slot = 0; slot < ReadPages::kMostSlots; slot += 3) {
    words.push_back(pages_.make(Slot(slot), kMemory + 8));
    ASSERT_NE(words.back(), nullptr);
    words.back()->store(slot + 1);
    values.insert(slot + 1);
  }
  for (u32 slot = 0; slot < ReadPages::kMostSlots; slot += 3)
    EXPECT_EQ(pages_.find(Slot(slot), kMemory + 8), words[slot / 3]);
  EXPECT_EQ(words_of(kMemory + 8), values);
  EXPECT_EQ(words_of(kMemory), std::set<u64>{0}) << "a neighbour has words of its own";
  EXPECT_EQ(pages_.make(Slot(ReadPages::kMostSlots), kMemory), nullptr);
}

TEST_F(ReadPagesTest, HighSlotsFirst) {
  ReadPageWord* high = pages_.make(Slot{1000}, kMemory);
  ReadPageWord* low = pages_.make(Slot{9}, kMemory);
  high->store(1);
  low->store(2);
  EXPECT_EQ(pages_.find(Slot{1000}, kMemory), high);
  EXPECT_EQ(words_of(kMemory), (std::set<u64>{1, 2}));
}

TEST_F(ReadPagesTest, AHintIsOfOnePage) {
  ReadPages::Hint hint;
  std::set<ReadPageWord*> words;
  for (uptr granule = kMemory; granule < kMemory + 2048; granule += 8) {
    EXPECT_EQ(pages_.find(hint, Slot{5}, granule), pages_.find(Slot{5}, granule));
    ReadPageWord* made = pages_.make(Slot{5}, granule);
    EXPECT_EQ(pages_.find(hint, Slot{5}, granule), made);
    EXPECT_TRUE(words.insert(made).second);
  }
}

TEST_F(ReadPagesTest, EachWordIsEveryWordThatIsNotZero) {
  std::set<u64> expected, found;
  for (u32 i = 1; i <= 500; ++i) {
    pages_.make(Slot(i % 40), kMemory + i * 88)->store(i);
    expected.insert(i);
  }
  pages_.each_word([&](ReadPageWord& word) { EXPECT_TRUE(found.insert(word.load()).second); });
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace duress
