// SPDX-License-Identifier: Apache-2.0
//
// The explorer against brute force: on random programs it must see every class of executions, and none twice.
#include "exhaustive/explorer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "exhaustive/testing/machine.h"

namespace duress::exhaustive {
namespace {

using testing::Instruction;
using testing::Machine;
using testing::Op;
using testing::Program;

struct Seen {
  std::set<std::string> classes;
  u64 executions = 0, twice = 0, redundant = 0, diverged = 0, most_nodes = 0, nodes_left = 0;
};

/// What is not planned is chosen by the generator; seed 0: the lowest thread.
Seen explore(const Program& program, u64 seed) {
  Seen seen;
  Arena arena;
  {
    Explorer explorer(arena);
    Prng prng(seed);
    size_t threads = program.threads.size();
    for (Explorer::Plan plan; explorer.next(&plan);) {
      Machine machine(program);
      for (u32 i = 0;; ++i) {
        std::vector<u32> ready = machine.enabled_threads();
        if (ready.empty()) break;
        u32 t = ready[seed ? prng.below(ready.size()) : 0], value = 0;
        if (i < plan.count) {
          t = plan.picks[i].strand;
          value = plan.picks[i].value;
          if (std::find(ready.begin(), ready.end(), t) == ready.end()) {
            ADD_FAILURE() << "a plan that cannot be followed";
            return seen;
          }
        } else if (u64 choices = machine.choices(t)) {
          for (u64 skip = prng.below(u64(__builtin_popcountll(choices))); skip > 0; --skip)
            choices &= choices - 1;
          value = 1 + u32(__builtin_ctzll(choices));
        }
        machine.run(t, value);
      }
      std::vector<Step> history = machine.history();
      seen.executions += machine.counts();
      if (machine.counts()) seen.twice += !seen.classes.insert(testing::class_of(history, threads)).second;
      explorer.learn(plan.ticket, history.data(), u32(history.size()));
      seen.most_nodes = std::max(seen.most_nodes, explorer.nodes());
    }
    EXPECT_TRUE(explorer.done());
    seen.nodes_left = explorer.nodes();
    seen.redundant = explorer.redundant();
    seen.diverged = explorer.diverged();
  }
  arena.release_all();
  return seen;
}

std::string text_of(const Program& program) {
  static const char* const kNames[] = {"load",         "store",  "add",       "cas",         "lock",
                                       "unlock",       "try",    "acquire",   "try-acquire", "post",
                                       "wait",         "signal", "broadcast", "skip-if",     "await",
                                       "await-either", "create", "join",      "arrive",      "timed-wait"};
  std::string text;
  for (size_t t = 0; t < program.threads.size(); ++t) {
    text += "T" + std::to_string(t) + ":";
    for (const Instruction& i : program.threads[t]) {
      text += std::string("  ") + kNames[int(i.op)] + " " + std::to_string(i.a) + "," + std::to_string(i.b) +
              "," + std::to_string(i.c);
    }
    text += "\n";
  }
  for (u64 s : program.semaphores) text += "semaphore " + std::to_string(s) + "\n";
  return text;
}

/// The explorer sees what brute force sees, each class once. False: too many interleavings.
bool matches_brute_force(const Program& program, u64 seed, u64 budget = 1500) {
  std::set<std::string> classes;
  if (!testing::brute_force(Machine(program), program.threads.size(), classes, budget)) return false;
  Seen seen = explore(program, seed);
  bool right = seen.classes == classes && seen.twice == 0 && seen.redundant == 0 && seen.diverged == 0;
  EXPECT_TRUE(right) << text_of(program) << classes.size() << " classes, seen " << seen.classes.size()
                     << ", twice " << seen.twice << ", redundant " << seen.redundant << ", diverged "
                     << seen.diverged;
  return right;
}

Program flat(std::vector<std::vector<Instruction>> threads, std::vector<u64> semaphores = {}) {
  Program program;
  program.started.assign(threads.size(), true);
  program.threads = std::move(threads);
  program.semaphores = std::move(semaphores);
  return program;
}

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
  Arena arena;
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
  arena.release_all();
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

class Generator {
 public:
  explicit Generator(u64 seed) : prng_(seed) {}
  int below(u64 n) { return int(prng_.below(n)); }

  Instruction access(int variables) {
    int a = below(u64(variables));
    switch (below(5)) {
      case 0:
        return {Op::kLoad, a};
      case 1:
        return {Op::kStore, a, below(3)};
      case 2:
        return {Op::kAdd, a, 1};
      default:
        return {Op::kCas, a, below(2), 1 + below(2)};
    }
  }

 private:
  Prng prng_;
};

TEST(Explorer, GuessesOfWhatIsBelowALeafComeTrue) {
  u64 right = 0, wrong = 0;
  for (u64 seed = 1; seed <= 200; ++seed) {
    Generator g(seed);
    std::vector<std::vector<Instruction>> threads(size_t(2 + g.below(2)));
    for (auto& thread : threads) {
      for (int n = 1 + g.below(4); n > 0; --n) {
        bool locked = g.below(3) == 0;
        if (locked) thread.push_back({Op::kLock, 0});
        thread.push_back(g.access(2));
        if (locked) thread.push_back({Op::kUnlock, 0});
      }
    }
    compare_speculation(flat(threads), &right, &wrong);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(right, 10000u);
  EXPECT_EQ(wrong, 0u);
}

TEST(ExplorerProperty, AtomicsWithControlFlow) {
  u32 checked = 0;
  for (u64 seed = 1; seed <= 400; ++seed) {
    Generator g(seed);
    std::vector<std::vector<Instruction>> threads(size_t(2 + g.below(2)));
    for (auto& thread : threads) {
      for (int n = 1 + g.below(4); n > 0; --n) {
        thread.push_back(g.access(2));
        if (g.below(3) == 0) thread.push_back({Op::kSkipIf, g.below(2), 1});
      }
    }
    checked += matches_brute_force(flat(threads), seed);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(checked, 200u);
}

TEST(ExplorerProperty, Locks) {
  u32 checked = 0;
  for (u64 seed = 1; seed <= 400; ++seed) {
    Generator g(seed);
    std::vector<std::vector<Instruction>> threads(size_t(2 + g.below(2)));
    for (auto& thread : threads) {
      for (int n = 1 + g.below(2); n > 0; --n) {
        int m = g.below(2);
        bool tries = g.below(4) == 0;
        std::vector<Instruction> inside;
        if (g.below(2)) inside.push_back(g.access(2));
        if (g.below(3) == 0) {
          inside.push_back({Op::kLock, 1 - m});
          inside.push_back({Op::kUnlock, 1 - m});
        }
        thread.push_back({tries ? Op::kTry : Op::kLock, m, int(inside.size()) + 1});
        thread.insert(thread.end(), inside.begin(), inside.end());
        if (g.below(10))
          thread.push_back({Op::kUnlock, m});  // or it is never given back
        else
          thread.push_back(g.access(2));
      }
      if (g.below(3) == 0) thread.push_back(g.access(2));
    }
    checked += matches_brute_force(flat(threads), seed);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(checked, 200u);
}

TEST(ExplorerProperty, Semaphores) {
  u32 checked = 0;
  for (u64 seed = 1; seed <= 400; ++seed) {
    Generator g(seed);
    std::vector<std::vector<Instruction>> threads(size_t(2 + g.below(2)));
    for (auto& thread : threads) {
      for (int n = 1 + g.below(4); n > 0; --n) {
        int s = g.below(2);
        switch (g.below(5)) {
          case 0:
          case 1:
            thread.push_back({Op::kAcquire, s});
            break;
          case 2:
            thread.push_back({Op::kTryAcquire, s, 1});
            thread.push_back(g.access(2));
            break;
          case 3:
            thread.push_back({Op::kPost, s});
            break;
          default:
            thread.push_back(g.access(2));
        }
      }
    }
    checked += matches_brute_force(flat(threads, {u64(g.below(3)), u64(g.below(2))}), seed);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(checked, 200u);
}

TEST(ExplorerProperty, Conditions) {
  u32 checked = 0;
  for (u64 seed = 1; seed <= 400; ++seed) {
    Generator g(seed);
    std::vector<std::vector<Instruction>> threads(size_t(2 + g.below(2)));
    for (auto& thread : threads) {
      int kind = g.below(3);
      if (kind == 0) {
        thread = {{Op::kLock, 0}, {Op::kWait, 0, 0}, {Op::kUnlock, 0}};
      } else {
        for (int n = 1 + g.below(2); n > 0; --n) {
          bool locks = g.below(2);
          if (locks) thread.push_back({Op::kLock, 0});
          if (g.below(3) == 0) thread.push_back(g.access(1));
          thread.push_back({g.below(3) ? Op::kSignal : Op::kBroadcast, 0});
          if (locks) thread.push_back({Op::kUnlock, 0});
        }
      }
      if (g.below(3) == 0) thread.push_back(g.access(1));
    }
    checked += matches_brute_force(flat(threads), seed);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(checked, 200u);
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

TEST(ExplorerProperty, WaitsThatMayEndByThemselves) {
  u32 checked = 0;
  for (u64 seed = 1; seed <= 500; ++seed) {
    Generator g(seed);
    std::vector<std::vector<Instruction>> threads(size_t(2 + g.below(2)));
    for (auto& thread : threads) {
      int kind = g.below(3);
      if (kind == 0) {
        thread = {{Op::kLock, 0}, {g.below(2) ? Op::kTimedWait : Op::kWait, 0, 0}};
        if (g.below(2)) {  // what ended by itself does something else; or waits once more
          thread.push_back({Op::kSkipIf, 0, 1});
          thread.push_back(g.below(2) ? g.access(1) : Instruction{Op::kWait, 0, 0});
        }
        if (g.below(3) == 0) thread.push_back({Op::kSkipIf, 1, -int(thread.size())});
        thread.push_back({Op::kUnlock, 0});
      } else {
        for (int n = 1 + g.below(2); n > 0; --n) {
          bool locks = g.below(2);
          if (locks) thread.push_back({g.below(4) ? Op::kLock : Op::kTry, 0, 2});
          if (g.below(3) == 0) thread.push_back(g.access(1));
          thread.push_back({g.below(3) ? Op::kSignal : Op::kBroadcast, 0});
          if (locks) thread.push_back({Op::kUnlock, 0});
        }
      }
      if (g.below(3) == 0) thread.push_back(g.access(1));
    }
    Program program = flat(threads);
    program.spurious = g.below(3);
    program.timeouts = g.below(2);
    checked += matches_brute_force(program, seed, 3000);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(checked, 200u);
}

TEST(ExplorerProperty, SignalsChooseWhomTheyWake) {
  u32 checked = 0;
  for (u64 seed = 1; seed <= 60; ++seed) {
    Generator g(seed);
    std::vector<Instruction> waiter = {{Op::kLock, 0}, {Op::kWait, 0, 0}, {Op::kUnlock, 0}};
    std::vector<std::vector<Instruction>> threads = {waiter, waiter};
    threads.push_back({{Op::kSignal, 0}, g.access(1), {Op::kSignal, 0}});
    if (g.below(2)) threads[0].push_back(g.access(1));
    if (g.below(2)) threads[1].insert(threads[1].begin(), g.access(1));
    checked += matches_brute_force(flat(threads), seed, 200000);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(checked, 30u);
}

TEST(ExplorerProperty, LoopsThatWait) {
  u32 checked = 0;
  for (u64 seed = 1; seed <= 400; ++seed) {
    Generator g(seed);
    std::vector<std::vector<Instruction>> threads(size_t(2 + g.below(2)));
    for (auto& thread : threads) {
      for (int n = 1 + g.below(3); n > 0; --n) {
        int what = g.below(5);
        if (what == 0)
          thread.push_back({Op::kAwait, g.below(2), 1 + g.below(2)});
        else if (what == 1)
          thread.push_back({Op::kAwaitEither, 0, 1, 1});
        else
          thread.push_back(g.access(2));
      }
    }
    checked += matches_brute_force(flat(threads), seed);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(checked, 200u);
}

TEST(ExplorerProperty, ThreadsThatStartAndJoinOthers) {
  u32 checked = 0;
  for (u64 seed = 1; seed <= 400; ++seed) {
    Generator g(seed);
    Program program;
    size_t n = size_t(2 + g.below(3));
    program.threads.resize(n);
    program.started.assign(n, false);
    program.started[0] = true;
    for (size_t t = 0; t < n; ++t) {
      auto& thread = program.threads[t];
      if (g.below(2)) thread.push_back(g.access(2));
      if (t == 0) {
        for (size_t c = 1; c < n; ++c) {
          thread.push_back({Op::kCreate, int(c)});
          if (g.below(3) == 0) thread.push_back(g.access(2));
        }
        for (size_t c = 1; c < n; ++c) {
          if (g.below(4)) thread.push_back({Op::kJoin, int(c)});
          if (g.below(3) == 0) thread.push_back(g.access(2));
        }
      } else {
        if (g.below(2)) thread.push_back(g.access(2));
        if (t > 1 && g.below(4) == 0) thread.push_back({Op::kJoin, int(t - 1)});
      }
    }
    checked += matches_brute_force(program, seed);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(checked, 200u);
}

TEST(ExplorerProperty, Barriers) {
  u32 checked = 0;
  for (u64 seed = 1; seed <= 300; ++seed) {
    Generator g(seed);
    std::vector<std::vector<Instruction>> threads(3);
    for (auto& thread : threads) {
      if (g.below(2)) thread.push_back(g.access(1));
      thread.push_back({Op::kArrive, 0, 3});
      if (g.below(2)) thread.push_back(g.access(1));
    }
    checked += matches_brute_force(flat(threads), seed);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(checked, 200u);
}

}  // namespace
}  // namespace duress::exhaustive
