// SPDX-License-Identifier: Apache-2.0
//
// The explorer on programs whose number of reads-from classes is known.
#include "reads_from/testing/exploration.h"

namespace duress::reads_from {
namespace {

using exhaustive::testing::flat;
using exhaustive::testing::Instruction;
using exhaustive::testing::Op;
using testing::explore_classes;
using testing::matches_brute_force;
using testing::Seen;
using testing::Totals;
using Thread = std::vector<Instruction>;

TEST(ReadsFrom, StoresThatNobodyReadsAreOneClass) {
  std::vector<Thread> threads(5, {{Op::kStore, 0, 1}});
  EXPECT_EQ(explore_classes(flat(threads), 1).runs, 1u);
}

TEST(ReadsFrom, AReaderOfManyStores) {
  std::vector<Thread> threads(6, {{Op::kStore, 0, 1}});
  threads.push_back({{Op::kLoad, 0}});
  EXPECT_EQ(explore_classes(flat(threads), 1).runs, 7u);
}

TEST(ReadsFrom, AtomicUpdatesAreTheMultinomialCoefficient) {
  Thread updates(3, {Op::kAdd, 0, 1});
  EXPECT_EQ(explore_classes(flat({updates, updates}), 1).runs, 20u);
  EXPECT_EQ(explore_classes(flat({updates, updates, updates}), 1).runs, 1680u);
}

TEST(ReadsFrom, LocksOfThree) {
  Thread section = {{Op::kLock, 0}, {Op::kUnlock, 0}};
  EXPECT_EQ(explore_classes(flat({section, section, section}), 1).runs, 6u);
}

TEST(ReadsFrom, ConditionsAreNotSupported) {
  Seen seen = explore_classes(flat({{{Op::kSignal, 0}}, {{Op::kSignal, 0}}}), 1);
  EXPECT_FALSE(seen.supported);
}

TEST(ReadsFrom, AStoreThatFollowsFromWhatALoadThereMayNotRead) {
  // The last step of T1 may read T0's update with the load before it reading 0; but then it cannot read 0
  // itself, so it is not found below the branch where it does.
  Totals totals;
  auto program = flat({{{Op::kStore, 1, 2}, {Op::kLoad, 0}, {Op::kAdd, 1, 1}},
                       {{Op::kAwait, 0, 1}, {Op::kAwait, 0, 1}, {Op::kAwait, 1, 1}},
                       {{Op::kLoad, 0}, {Op::kAdd, 0, 1}, {Op::kAwait, 0, 1}}});
  for (u64 seed = 1; seed <= 100; ++seed) EXPECT_TRUE(matches_brute_force(program, seed, 100'000, totals));
}

}  // namespace
}  // namespace duress::reads_from
