// SPDX-License-Identifier: Apache-2.0
#include "search/saved_search.h"

#include <gtest/gtest.h>

#include "exec/testing/folder_test.h"

namespace duress::search {
namespace {

class SavedSearchTest : public exec::testing::FolderTest {
 protected:
};

TEST_F(SavedSearchTest, ComesBack) {
  SavedSearch state;
  state.next_run = 77;
  state.search_state.pairs = {{1, 2}, {3, 4}};
  state.search_state.length = 55;
  state.search_state.seen = {10, 11};
  Observation seen{~u64{0}, {12, 13}, {{1, 2, 3, 0, ~u64{0}, 5}}};
  state.search_state.guide.learn(0, &seen, true);
  state.search_state.shares.note(StrategyId::kPos, 3);
  state.feedback.resize(2);
  state.feedback[0].pairs = {{5, 6}};
  state.feedback[0].choices = 10;
  state.feedback[0].strategy = StrategyId::kGuided;
  state.feedback[0].plan = 7;
  state.feedback[0].observation = seen;
  state.failures = {"F-1111"};
  ASSERT_EQ(save_search(folder_, "key \xff", state), "");
  std::optional<SavedSearch> back = load_search(folder_, "key \xff");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->next_run, 77u);
  EXPECT_EQ(back->search_state.length, 55u);
  EXPECT_EQ(back->search_state.pairs[1].second, 4u);
  EXPECT_EQ(back->feedback.size(), 2u);
  EXPECT_EQ(back->feedback[0].pairs[0].first, 5u);
  EXPECT_EQ(back->feedback[0].strategy, StrategyId::kGuided);
  EXPECT_EQ(back->feedback[0].plan, 7u);
  ASSERT_TRUE(back->feedback[0].observation);
  EXPECT_EQ(back->feedback[0].observation->signature, seen.signature);
  EXPECT_EQ(back->feedback[0].observation->pairs, seen.pairs);
  EXPECT_EQ(back->feedback[0].observation->points, seen.points);
  EXPECT_FALSE(back->feedback[1].observation || back->feedback[1].plan);
  EXPECT_EQ(back->search_state.seen, state.search_state.seen);
  EXPECT_EQ(back->search_state.guide.nodes(), state.search_state.guide.nodes());
  EXPECT_EQ(back->search_state.guide.signatures(), state.search_state.guide.signatures());
  EXPECT_EQ(back->search_state.shares.arms(), state.search_state.shares.arms());
  EXPECT_EQ(back->failures, state.failures);
  EXPECT_FALSE(load_search(folder_, "another"));
  forget_search(folder_, "key \xff");
  EXPECT_FALSE(load_search(folder_, "key \xff"));
}

}  // namespace
}  // namespace duress::search
