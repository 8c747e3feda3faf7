// SPDX-License-Identifier: Apache-2.0
//
// The explorer on programs whose number of classes is known, and its guesses of what is below a leaf.
#include "exhaustive/explorer.h"

#include <map>

#include "base/scoped_arena.h"
#include "exhaustive/testing/random_programs.h"

namespace duress::exhaustive {
namespace {

using testing::explore;
using testing::flat;
using testing::Generator;
using testing::Instruction;
using testing::Machine;
using testing::matches_brute_force;
using testing::Op;
using testing::Program;
using testing::Seen;

/// An execution that follows the plan, and then runs the lowest thread.
std::vector<Step> run(const Program& program, const Explorer::Plan& plan) {
  Machine machine(program);
  for (u32 i = 0;; ++i) {
    std::vector<u32> ready = machine.enabled_threads();
    if (ready.empty()) return machine.history();
    u32 t = i < plan.count ? plan.picks[i].strand : ready[0];
    u32 value = i < plan.count ? plan.picks[i].value : 0;
    if (u64 choices = i < plan.count ? 0 : machine.choices(t)) value = 1 + u32(__builtin_ctzll(choices));
    machine.run(t, value);
  }
}

std::string text_of(const Explorer::Plan& plan) {
  std::string text;
  for (u32 i = 0; i < plan.count; ++i)
    text += std::to_string(plan.picks[i].strand) + "." + std::to_string(plan.picks[i].value) + " ";
  return text;
}

/// Guesses what comes below each leaf when it is first seen to wait, and compares with what came.
void compare_speculation(const Program& program, u64* right, u64* wrong) {
  ScopedArena arena;
  std::map<u64, std::vector<std::string>> guessed, came;  // by the leaf's serial
  {
    Explorer explorer(arena);
    for (Explorer::Plan plan; explorer.next(&plan);) {
      for (const Explorer::Node* up = plan.ticket; up; up = up->parent) {
        if (guessed.count(up->serial)) came[up->serial].push_back(text_of(plan));
      }
      std::vector<Step> steps = run(program, plan);
      explorer.learn(plan.ticket, steps.data(), u32(steps.size()));
      explorer.upcoming(~0u, [&](const Explorer::Upcoming& one) {
        if (guessed.count(one.serial)) return;
        Explorer speculative(arena);
        speculative.begin_subtree(explorer, one.leaf);
        for (Explorer::Plan guess; speculative.next(&guess) && speculative.in_subtree(guess.ticket);) {
          guessed[one.serial].push_back(text_of(guess));
          std::vector<Step> history = run(program, guess);
          ASSERT_TRUE(speculative.learn(guess.ticket, history.data(), u32(history.size())));
        }
      });
    }
    EXPECT_TRUE(explorer.done());
  }
  for (const auto& [leaf, plans] : guessed) plans == came[leaf] ? ++*right : ++*wrong;
}

TEST(Explorer, AtomicUpdatesAreTheMultinomialCoefficient) {
  std::vector<Instruction> updates(3, {Op::kAdd, 0, 1});
  EXPECT_EQ(explore(flat({updates, updates}), 1).executions, 20u);
  EXPECT_EQ(explore(flat({updates, updates, updates}), 1).executions, 1680u);
}

TEST(Explorer, IndependentStepsAreOneClass) {
  EXPECT_EQ(explore(flat({{{Op::kAdd, 0, 1}}, {{Op::kAdd, 1, 1}}, {{Op::kStore, 2, 1}}}), 1).executions, 1u);
}

TEST(Explorer, ReadersOfOneWriter) {
  for (auto [n, count] : std::map<int, u64>{{2, 4}, {8, 256}, {13, 8192}}) {
    std::vector<std::vector<Instruction>> threads = {{{Op::kStore, 0, 1}}};
    for (int i = 0; i < n; ++i) threads.push_back({{Op::kLoad, 0}});
    Seen seen = explore(flat(threads), 1);
    EXPECT_EQ(seen.executions, count);
    EXPECT_EQ(seen.twice + seen.redundant, 0u);
  }
}

TEST(Explorer, ForgetsWhatIsFinished) {
  std::vector<Instruction> updates(3, {Op::kAdd, 0, 1});
  Seen seen = explore(flat({updates, updates, updates}), 1);
  EXPECT_EQ(seen.nodes_left, 1u);
  EXPECT_LT(seen.most_nodes, 1680u);
}

TEST(Explorer, LocksOfTwo) {
  std::vector<Instruction> section = {{Op::kLock, 0}, {Op::kUnlock, 0}};
  EXPECT_EQ(explore(flat({section, section}), 1).executions, 2u);
  EXPECT_EQ(explore(flat({section, section, section}), 1).executions, 6u);
}

TEST(Explorer, ADeadlockIsAClass) {
  Program program = flat({{{Op::kLock, 0}, {Op::kLock, 1}, {Op::kUnlock, 1}, {Op::kUnlock, 0}},
                          {{Op::kLock, 1}, {Op::kLock, 0}, {Op::kUnlock, 0}, {Op::kUnlock, 1}}});
  EXPECT_EQ(explore(program, 1).executions, 3u);
  EXPECT_TRUE(matches_brute_force(program, 1));
}

TEST(Explorer, ALoopThatWaitsLooksOnceInVain) {
  Program program = flat({{{Op::kStore, 0, 1}}, {{Op::kAwait, 0, 1}}});
  EXPECT_EQ(explore(program, 1).executions, 2u);
  EXPECT_TRUE(matches_brute_force(program, 1));
}

TEST(Explorer, GuessesOfWhatIsBelowALeafComeTrue) {
  u64 right = 0, wrong = 0;
  for (u64 seed = 1; seed <= 200; ++seed) {
    Generator g(seed);
    auto threads = g.threads([&](std::vector<Instruction>& thread) {
      for (int n = 1 + g.below(4); n > 0; --n) {
        bool locked = g.below(3) == 0;
        if (locked) thread.push_back({Op::kLock, 0});
        thread.push_back(g.access(2));
        if (locked) thread.push_back({Op::kUnlock, 0});
      }
    });
    compare_speculation(flat(threads), &right, &wrong);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(right, 10000u);
  EXPECT_EQ(wrong, 0u);
}

TEST(Explorer, AWaitThatMayEndByItself) {
  Program program = flat({{{Op::kLock, 0}, {Op::kWait, 0, 0}, {Op::kUnlock, 0}}, {{Op::kSignal, 0}}});
  // The signal comes first, and the other waits for ever; or it is woken.
  EXPECT_EQ(explore(program, 1).executions, 2u);
  program.spurious = 1;  // or it wakes up by itself, and the signal is nothing to it
  EXPECT_EQ(explore(program, 1).executions, 3u);
  EXPECT_TRUE(matches_brute_force(program, 1));
  program.threads[0][1].op = Op::kTimedWait;
  EXPECT_EQ(explore(program, 1).executions, 3u);
  program.timeouts = 1;  // then nobody waits for ever: woken, spurious, too late
  EXPECT_EQ(explore(program, 1).executions, 3u);
  EXPECT_TRUE(matches_brute_force(program, 1));
}

}  // namespace
}  // namespace duress::exhaustive
