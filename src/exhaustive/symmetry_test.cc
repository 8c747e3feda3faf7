// SPDX-License-Identifier: Apache-2.0
//
// Strands that are alike: with their exchange nothing may be lost. Each execution of a random program must
// have an image among the explored ones.
#include <algorithm>
#include <map>
#include <numeric>

#include "base/scoped_arena.h"
#include "exhaustive/testing/random_programs.h"

namespace duress::exhaustive {
namespace {

using testing::class_of;
using testing::flat;
using testing::Generator;
using testing::Instruction;
using testing::Machine;
using testing::Op;
using testing::Program;
using Thread = std::vector<Instruction>;

/// The same execution with other numbers of threads.
std::vector<Step> image_of(std::vector<Step> steps, const std::vector<u32>& numbers) {
  for (Step& step : steps) {
    step.strand = u8(numbers[step.strand]);
    if (step.is(Step::kAfter)) step.other = u8(numbers[step.other]);
    if (step.kind == OpKind::kSignal && step.value) step.value = u8(1 + numbers[step.value - 1u]);
  }
  return steps;
}

/// What all images of an execution have in common; threads from `first` on are alike.
std::string least_image(const std::vector<Step>& steps, size_t threads, size_t first) {
  std::vector<u32> numbers(threads);
  std::iota(numbers.begin(), numbers.end(), 0u);
  std::string least;
  do {
    std::string text = class_of(image_of(steps, numbers), threads);
    if (least.empty() || text < least) least = text;
  } while (std::next_permutation(numbers.begin() + long(first), numbers.end()));
  return least;
}

struct Explored {
  std::map<std::string, int> images;
  u64 executions = 0;
};

/// `order` decides who goes on beyond the plan. Threads from `first` on are alike, if that is asked for.
Explored explore(const Program& program, size_t first, bool exchanges, u64 order) {
  ScopedArena arena;
  u8 alike[kMostStrands] = {};
  const size_t threads = program.threads.size();
  for (size_t t = first; exchanges && t < threads; ++t) alike[t] = u8(first);
  Explorer explorer(arena);
  explorer.exchange_alike(alike);
  Explored explored;
  Prng prng(order);
  for (Explorer::Plan plan; explorer.next(&plan) && explored.executions < 20'000; ++explored.executions) {
    Machine machine(program);
    for (u32 i = 0;; ++i) {
      std::vector<u32> ready = machine.enabled_threads();
      if (ready.empty()) break;
      u32 t = i < plan.count ? plan.picks[i].strand : ready[prng.below(ready.size())];
      u32 value = i < plan.count ? plan.picks[i].value : 0;
      if (u64 choices = i < plan.count ? 0 : machine.choices(t)) value = 1 + u32(__builtin_ctzll(choices));
      machine.run(t, value);
    }
    std::vector<Step> steps = machine.history();
    EXPECT_TRUE(explorer.learn(plan.ticket, steps.data(), u32(steps.size())));
    if (machine.counts()) ++explored.images[least_image(steps, threads, first)];
  }
  return explored;
}

/// One thread of its own and two or three that are alike.
template <typename Fill>
void expect_nothing_lost(u64 seeds, Fill fill) {
  u64 all = 0, fewer = 0, images = 0;
  for (u64 seed = 1; seed <= seeds; ++seed) {
    Generator g(seed);
    Thread own, alike;
    fill(g, own);
    fill(g, alike);
    std::vector<Thread> threads = {own};
    threads.resize(size_t(3 + g.below(2)), alike);
    const Program program = flat(threads, {1, 1});
    Explored every = explore(program, 1, false, seed);
    if (every.executions >= 3'000) continue;
    Explored exchanged = explore(program, 1, true, seed);
    for (const auto& [image, times] : every.images)
      ASSERT_TRUE(exchanged.images.count(image)) << seed << "\n" << text_of(program) << image;
    ASSERT_EQ(exchanged.images.size(), every.images.size());
    ASSERT_LE(exchanged.executions, every.executions);
    all += every.executions;
    fewer += exchanged.executions;
    images += every.images.size();
  }
  EXPECT_LT(fewer * 3, all * 2) << "of " << images;
  ::testing::Test::RecordProperty(
      "executions", std::to_string(all) + " " + std::to_string(fewer) + " " + std::to_string(images));
}

TEST(Symmetry, Atomics) {
  expect_nothing_lost(300, [](Generator& g, Thread& thread) {
    for (int n = 1 + g.below(2); n > 0; --n) {
      thread.push_back(g.access(2));
      if (g.below(3) == 0) thread.push_back({Op::kSkipIf, g.below(2), 1});
    }
  });
}

TEST(Symmetry, Locks) {
  expect_nothing_lost(200, [](Generator& g, Thread& thread) {
    int m = g.below(2);
    thread.push_back({g.below(4) ? Op::kLock : Op::kTry, m, 2});
    thread.push_back(g.access(2));
    thread.push_back({Op::kUnlock, m});
    if (g.below(3) == 0) thread.push_back(g.access(2));
  });
}

TEST(Symmetry, SemaphoresConditionsAndLoops) {
  expect_nothing_lost(200, [](Generator& g, Thread& thread) {
    switch (g.below(4)) {
      case 0:
        thread = {{Op::kAcquire, 0}, g.access(1), {Op::kPost, g.below(2)}};
        break;
      case 1:
        thread = {{Op::kLock, 0}, {Op::kWait, 0, 0}, {Op::kUnlock, 0}};
        break;
      case 2:
        thread = {g.access(1), {Op::kSignal, 0}};
        break;
      default:
        thread = {{Op::kAwait, 0, 1}, g.access(2)};
    }
  });
}

TEST(Symmetry, AlikeReadersOfAWriterAreOneMoreThanThereAre) {
  for (size_t readers = 1; readers <= 6; ++readers) {
    std::vector<Thread> threads(readers + 1, {{Op::kLoad, 0}});
    threads[0] = {{Op::kStore, 0, 1}};
    EXPECT_EQ(explore(flat(threads), 1, true, 1).executions, readers + 1);
  }
}

TEST(Symmetry, AlikeUpdatesOfOneVariableAreOneExecution) {
  std::vector<Thread> threads(5, {{Op::kAdd, 0, 1}});
  threads[0] = {};
  EXPECT_EQ(explore(flat(threads), 1, true, 1).executions, 1u);
}

}  // namespace
}  // namespace duress::exhaustive
