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
  state.search_state = {{{1, 2}, {3, 4}}, 55};
  state.feedback = {{{{5, 6}}, 10}, {{}, 0}};
  state.failures = {"F-1111"};
  ASSERT_EQ(save_search(folder_, "key \xff", state), "");
  std::optional<SavedSearch> back = load_search(folder_, "key \xff");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->next_run, 77u);
  EXPECT_EQ(back->search_state.length, 55u);
  EXPECT_EQ(back->search_state.pairs[1].second, 4u);
  EXPECT_EQ(back->feedback.size(), 2u);
  EXPECT_EQ(back->feedback[0].pairs[0].first, 5u);
  EXPECT_EQ(back->failures, state.failures);
  EXPECT_FALSE(load_search(folder_, "another"));
  forget_search(folder_, "key \xff");
  EXPECT_FALSE(load_search(folder_, "key \xff"));
}

}  // namespace
}  // namespace duress::search
