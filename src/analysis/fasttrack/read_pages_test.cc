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
    pages_.each(granule, [&](u64 word) { found.insert(word); });
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
  pages_.each_word([&](u64 word) {
    EXPECT_TRUE(found.insert(word).second);
    return word + 1000;
  });
  EXPECT_EQ(found, expected);
  found.clear();
  pages_.each_word([&](u64 word) { return found.insert(word - 1000), word; });
  EXPECT_EQ(found, expected);
}

class WholePageTest : public ReadPagesTest {
 protected:
  static constexpr u64 kWord = u64{77} << 38;
  WholePageTest() : entry_(*pages_.make_entry(Slot{12}, kMemory)) { ReadPages::fill(entry_, kWord); }

  ReadPages::Entry& entry_;
};

TEST_F(WholePageTest, AllGranulesHaveTheWordAndNoneItsOwn) {
  for (uptr at = 0; at < ReadPages::kPageBytes; at += 8) {
    EXPECT_EQ(pages_.look(Slot{12}, kMemory + at), kWord);
    EXPECT_EQ(pages_.find(Slot{12}, kMemory + at), nullptr);
    EXPECT_EQ(words_of(kMemory + at), std::set<u64>{kWord});
  }
  EXPECT_EQ(pages_.look(Slot{12}, kMemory + ReadPages::kPageBytes), 0u);
  EXPECT_EQ(pages_.look(Slot{11}, kMemory), 0u);
}

TEST_F(WholePageTest, AGranuleThatChangesLeavesTheOthersAsTheyAre) {
  pages_.each_made(kMemory + 16, [](ReadPageWord& word) { word.store(0); });
  EXPECT_EQ(pages_.look(Slot{12}, kMemory + 16), 0u);
  EXPECT_EQ(pages_.look(Slot{12}, kMemory + 8), kWord);
  EXPECT_EQ(pages_.find(Slot{12}, kMemory + 8)->load(), kWord);
  EXPECT_EQ(pages_.make(Slot{12}, kMemory), pages_.find(Slot{12}, kMemory));
}

TEST_F(WholePageTest, FilledAgainInBothForms) {
  ReadPages::fill(entry_, 2 * kWord);
  EXPECT_EQ(pages_.look(Slot{12}, kMemory + 8), 2 * kWord);
  ReadPageWord* word = pages_.make(Slot{12}, kMemory + 8);
  ReadPages::fill(entry_, kWord);
  EXPECT_EQ(word->load(), kWord);
  ReadPages::fill(entry_, 0);
  EXPECT_EQ(words_of(kMemory), std::set<u64>{0});
}

TEST_F(WholePageTest, TheCollectorChangesOrDropsTheWord) {
  pages_.each_word([](u64 word) { return 3 * word; });
  EXPECT_EQ(pages_.look(Slot{12}, kMemory + 8), 3 * kWord);
  pages_.each_word([](u64) { return u64{0}; });
  EXPECT_TRUE(words_of(kMemory).empty());
}

}  // namespace
}  // namespace duress
