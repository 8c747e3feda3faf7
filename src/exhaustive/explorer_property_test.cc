// SPDX-License-Identifier: Apache-2.0
//
// The explorer against brute force: on random programs it must see every class of executions, and none twice.
#include "exhaustive/testing/random_programs.h"

namespace duress::exhaustive {
namespace {

using testing::expect_matches;
using testing::flat;
using testing::Generator;
using testing::Instruction;
using testing::Op;
using testing::Program;
using Thread = std::vector<Instruction>;

TEST(ExplorerProperty, AtomicsWithControlFlow) {
  expect_matches({}, [](Generator& g) {
    return flat(g.threads([&](Thread& thread) {
      for (int n = 1 + g.below(4); n > 0; --n) {
        thread.push_back(g.access(2));
        if (g.below(3) == 0) thread.push_back({Op::kSkipIf, g.below(2), 1});
      }
    }));
  });
}

TEST(ExplorerProperty, Locks) {
  expect_matches({}, [](Generator& g) {
    return flat(g.threads([&](Thread& thread) {
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
    }));
  });
}

TEST(ExplorerProperty, Semaphores) {
  expect_matches({}, [](Generator& g) {
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

TEST(ExplorerProperty, Conditions) {
  expect_matches({}, [](Generator& g) {
    return flat(g.threads([&](Thread& thread) {
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
    }));
  });
}

TEST(ExplorerProperty, WaitsThatMayEndByThemselves) {
  expect_matches({.seeds = 500, .budget = 3000}, [](Generator& g) {
    auto threads = g.threads([&](Thread& thread) {
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
    });
    Program program = flat(threads);
    program.spurious = g.below(3);
    program.timeouts = g.below(2);
    return program;
  });
}

TEST(ExplorerProperty, SignalsChooseWhomTheyWake) {
  expect_matches({.seeds = 60, .least = 30, .budget = 200000}, [](Generator& g) {
    std::vector<Instruction> waiter = {{Op::kLock, 0}, {Op::kWait, 0, 0}, {Op::kUnlock, 0}};
    std::vector<std::vector<Instruction>> threads = {waiter, waiter};
    threads.push_back({{Op::kSignal, 0}, g.access(1), {Op::kSignal, 0}});
    if (g.below(2)) threads[0].push_back(g.access(1));
    if (g.below(2)) threads[1].insert(threads[1].begin(), g.access(1));
    return flat(threads);
  });
}

TEST(ExplorerProperty, LoopsThatWait) {
  expect_matches({}, [](Generator& g) {
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

TEST(ExplorerProperty, ThreadsThatStartAndJoinOthers) {
  expect_matches({}, [](Generator& g) {
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

TEST(ExplorerProperty, Barriers) {
  expect_matches({.seeds = 300}, [](Generator& g) {
    std::vector<std::vector<Instruction>> threads(3);
    for (auto& thread : threads) {
      if (g.below(2)) thread.push_back(g.access(1));
      thread.push_back({Op::kArrive, 0, 3});
      if (g.below(2)) thread.push_back(g.access(1));
    }
    return flat(threads);
  });
}

}  // namespace
}  // namespace duress::exhaustive
