// SPDX-License-Identifier: Apache-2.0
//
// The explorer against brute force: on random programs it must see every reads-from class, and count none
// twice.
#include <cstdlib>

#include "reads_from/testing/exploration.h"

namespace duress::reads_from {
namespace {

using exhaustive::testing::flat;
using exhaustive::testing::Generator;
using exhaustive::testing::Instruction;
using exhaustive::testing::Op;
using exhaustive::testing::Program;
using testing::matches_brute_force;
using testing::Totals;
using Thread = std::vector<Instruction>;

struct Amount {
  u64 seeds = 400;
  u32 least = 200;
  u64 budget = 3000;
};

/// `runs`: at most so many per hundred that are counted.
template <typename Make>
void expect_matches(const Amount& amount, u64 most_runs, Make make) {
  const char* times = std::getenv("DURESS_TEST_SEEDS");  // for longer runs by hand
  const u64 seeds = times ? std::strtoull(times, nullptr, 10) : amount.seeds;
  Totals totals;
  u32 checked = 0;
  for (u64 seed = 1; seed <= seeds; ++seed) {
    Generator g(seed);
    checked += matches_brute_force(make(g), seed, amount.budget, totals);
    ASSERT_FALSE(::testing::Test::HasFailure()) << seed;
  }
  EXPECT_GT(checked, amount.least);
  EXPECT_LE(totals.runs * 100, totals.executions * most_runs);
  ::testing::Test::RecordProperty("executions", std::to_string(totals.programs) + " programs, " +
                                                    std::to_string(totals.executions) + " executions, " +
                                                    std::to_string(totals.runs) + " runs");
}

TEST(ReadsFromProperty, AtomicsWithControlFlow) {
  expect_matches({}, 105, [](Generator& g) {
    return flat(g.threads([&](Thread& thread) {
      for (int n = 1 + g.below(4); n > 0; --n) {
        thread.push_back(g.access(2));
        if (g.below(3) == 0) thread.push_back({Op::kSkipIf, g.below(2), 1});
      }
    }));
  });
}

TEST(ReadsFromProperty, LoadsAndStores) {
  expect_matches({.budget = 5000}, 100, [](Generator& g) {
    return flat(g.threads([&](Thread& thread) {
      for (int n = 1 + g.below(5); n > 0; --n) {
        int a = g.below(2);
        thread.push_back(g.below(2) ? Instruction{Op::kLoad, a} : Instruction{Op::kStore, a, g.below(3)});
      }
    }));
  });
}

TEST(ReadsFromProperty, FourThreadsOfAtomics) {
  expect_matches({.seeds = 200, .least = 80, .budget = 10'000}, 105, [](Generator& g) {
    std::vector<Thread> threads(4);
    for (Thread& thread : threads) {
      for (int n = 1 + g.below(3); n > 0; --n) thread.push_back(g.access(2));
    }
    return flat(threads);
  });
}

TEST(ReadsFromProperty, Locks) {
  expect_matches({}, 105, [](Generator& g) {
    return flat(g.threads([&](Thread& thread) {
      for (int n = 1 + g.below(2); n > 0; --n) {
        int m = g.below(2);
        bool tries = g.below(4) == 0;
        Thread inside;
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
    }));
  });
}

TEST(ReadsFromProperty, Semaphores) {
  expect_matches({}, 105, [](Generator& g) {
    auto threads = g.threads([&](Thread& thread) {
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
    });
    return flat(threads, {u64(g.below(3)), u64(g.below(2))});
  });
}

TEST(ReadsFromProperty, LoopsThatWait) {
  expect_matches({}, 200, [](Generator& g) {
    return flat(g.threads([&](Thread& thread) {
      for (int n = 1 + g.below(3); n > 0; --n) {
        int what = g.below(5);
        if (what == 0)
          thread.push_back({Op::kAwait, g.below(2), 1 + g.below(2)});
        else if (what == 1)
          thread.push_back({Op::kAwaitEither, 0, 1, 1});
        else
          thread.push_back(g.access(2));
      }
    }));
  });
}

TEST(ReadsFromProperty, ThreadsThatStartAndJoinOthers) {
  expect_matches({}, 105, [](Generator& g) {
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
    return program;
  });
}

TEST(ReadsFromProperty, Barriers) {
  expect_matches({.seeds = 300}, 105, [](Generator& g) {
    std::vector<Thread> threads(3);
    for (Thread& thread : threads) {
      if (g.below(2)) thread.push_back(g.access(1));
      thread.push_back({Op::kArrive, 0, 3});
      if (g.below(2)) thread.push_back(g.access(1));
    }
    return flat(threads);
  });
}

}  // namespace
}  // namespace duress::reads_from
