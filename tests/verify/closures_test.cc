// SPDX-License-Identifier: Apache-2.0
//
// duress::check with `exhaustive`: exact numbers of interleavings of ordinary std::thread code, and what is
// found.
#include <duress/test.h>
#include <gtest/gtest.h>
#include <semaphore.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace {

template <typename Closure>
duress::CheckResult all(Closure closure) {
  duress::CheckOptions options;
  options.exhaustive = options.quiet = true;
  return duress::check(closure, options);
}

/// How many interleavings there are; 0 if not all were seen or one failed.
template <typename Closure>
std::uint64_t count(Closure closure) {
  duress::CheckResult result = all(closure);
  EXPECT_TRUE(result.passed) << result.report;
  EXPECT_TRUE(result.complete) << result.bound;
  return result.complete ? result.executions : 0;
}

template <typename... Bodies>
void together(Bodies... bodies) {
  std::vector<std::thread> threads;
  (threads.emplace_back(bodies), ...);
  for (std::thread& t : threads) t.join();
}

void updates(int threads, int each) {
  std::atomic<int> x{0};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      for (int k = 0; k < each; ++k) x.fetch_add(1);
    });
  }
  for (std::thread& t : all) t.join();
  EXPECT_EQ(x.load(), threads * each);
}

void readers(int n) {
  std::atomic<int> x{0};
  std::vector<std::thread> all;
  all.emplace_back([&] { x.store(1); });
  for (int i = 0; i < n; ++i) all.emplace_back([&] { (void)x.load(); });
  for (std::thread& t : all) t.join();
}

void last_zero(int n) {
  std::unique_ptr<std::atomic<int>[]> a(new std::atomic<int>[n + 1]());
  std::vector<std::thread> all;
  all.emplace_back([&] {
    int i = n;
    while (a[i].load() != 0) --i;
  });
  for (int j = 1; j <= n; ++j) all.emplace_back([&a, j] { a[j].store(a[j - 1].load() + 1); });
  for (std::thread& t : all) t.join();
}

void indexer(int n) {
  std::unique_ptr<std::atomic<int>[]> table(new std::atomic<int>[128]());
  std::vector<std::thread> all;
  for (int t = 0; t < n; ++t) {
    all.emplace_back([&table, t] {
      for (int m = 1; m <= 4; ++m) {
        int w = 11 * m + t, at = 7 * w % 128;
        for (int empty = 0; !table[at].compare_exchange_strong(empty, w); empty = 0) at = (at + 1) % 128;
      }
    });
  }
  for (std::thread& t : all) t.join();
}

TEST(Families, Updates) {
  EXPECT_EQ(count([] { updates(2, 3); }), 20u);
  EXPECT_EQ(count([] { updates(2, 5); }), 252u);
  EXPECT_EQ(count([] { updates(3, 2); }), 90u);
}

TEST(Families, IndependentVariables) {
  EXPECT_EQ(count([] {
              std::atomic<int> x{0}, y{0};
              together([&] { x.fetch_add(1); }, [&] { y.fetch_add(1); });
            }),
            1u);
}

TEST(Families, Readers) {
  EXPECT_EQ(count([] { readers(2); }), 4u);
  EXPECT_EQ(count([] { readers(8); }), 256u);
  EXPECT_EQ(count([] { readers(13); }), 8192u);
}

TEST(Families, LastZero) {
  EXPECT_EQ(count([] { last_zero(5); }), 64u);
  EXPECT_EQ(count([] { last_zero(10); }), 3328u);
}

TEST(Families, Indexer) {
  EXPECT_EQ(count([] { indexer(12); }), 8u);
  EXPECT_EQ(count([] { indexer(15); }), 4096u);
}

TEST(Locks, Sections) {
  EXPECT_EQ(count([] {
              std::mutex m;
              int shared = 0;
              auto body = [&] {
                std::lock_guard guard(m);
                ++shared;
              };
              together(body, body, body);
              EXPECT_EQ(shared, 3);
            }),
            6u);
}

TEST(Locks, TryLock) {
  // Both in turn, either way; or the second comes while the first holds it.
  EXPECT_EQ(count([] {
              std::mutex m;
              auto body = [&] {
                if (m.try_lock()) m.unlock();
              };
              together(body, body);
            }),
            4u);
}

TEST(Locks, DeadlockIsFound) {
  duress::CheckResult result = all([] {
    std::mutex a, b;
    together(
        [&] {
          std::lock_guard first(a);
          std::lock_guard second(b);
        },
        [&] {
          std::lock_guard first(b);
          std::lock_guard second(a);
        });
  });
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.failure, "deadlock");
  EXPECT_FALSE(result.token.empty());
}

TEST(Locks, ReadersAndAWriter) {
  EXPECT_GT(count([] {
              std::shared_mutex m;
              int shared = 0;
              together(
                  [&] {
                    std::lock_guard guard(m);
                    shared = 1;
                  },
                  [&] {
                    std::shared_lock guard(m);
                    EXPECT_LE(shared, 1);
                  });
            }),
            1u);
}

TEST(Waiting, SemaphoreOrdersTwoThreads) {
  EXPECT_EQ(count([] {
              sem_t s;
              sem_init(&s, 0, 0);
              int shared = 0;
              together(
                  [&] {
                    shared = 1;
                    sem_post(&s);
                  },
                  [&] {
                    sem_wait(&s);
                    EXPECT_EQ(shared, 1);
                  });
              sem_destroy(&s);
            }),
            1u);
}

TEST(Waiting, ConditionWithALoop) {
  EXPECT_EQ(count([] {
              std::mutex m;
              std::condition_variable changed;
              bool ready = false;
              together(
                  [&] {
                    std::lock_guard guard(m);
                    ready = true;
                    changed.notify_one();
                  },
                  [&] {
                    std::unique_lock guard(m);
                    while (!ready) changed.wait(guard);
                  });
            }),
            2u);
}

TEST(Waiting, LostWakeUpIsFound) {
  duress::CheckResult result = all([] {
    std::mutex m;
    std::condition_variable changed;
    together([&] { changed.notify_one(); },
             [&] {
               std::unique_lock guard(m);
               changed.wait(guard);
             });
  });
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.failure, "deadlock");
}

TEST(Waiting, WhoIsWokenIsExplored) {
  // Both wait when the signal comes. Who arrived first, who is woken first, and whether the first post was
  // taken before the second one came.
  int seen[2][2] = {};
  EXPECT_EQ(count([&] {
              std::mutex m;
              std::condition_variable changed;
              sem_t here;
              sem_init(&here, 0, 0);
              int arrived = -1, woken = -1;
              auto waiter = [&](int me) {
                std::unique_lock guard(m);
                if (arrived < 0) arrived = me;
                sem_post(&here);
                changed.wait(guard);
                if (woken < 0) woken = me;
                changed.notify_one();
              };
              std::thread a(waiter, 0), b(waiter, 1);
              sem_wait(&here);
              sem_wait(&here);
              {
                std::lock_guard guard(m);
                changed.notify_one();
              }
              a.join();
              b.join();
              sem_destroy(&here);
              ++seen[arrived][woken];
            }),
            8u);
  for (auto& first : seen) EXPECT_TRUE(first[0] > 0 && first[1] > 0);
}

TEST(Loops, AFlagIsLookedAtInVainOnce) {
  EXPECT_EQ(count([] {
              std::atomic<bool> ready{false};
              together([&] { ready.store(true); },
                       [&] {
                         while (!ready.load()) {
                         }
                       });
            }),
            2u);
  // The first call in the loop may leave something on the stack: then it goes round once more.
  EXPECT_LE(count([] {
              std::atomic<bool> ready{false};
              together([&] { ready.store(true); },
                       [&] {
                         while (!ready.load()) std::this_thread::yield();
                       });
            }),
            3u);
}

TEST(Loops, EveryValueOfTheFlagIsSeen) {
  // Before, between, after: of each value it may see the first and wait, or come later.
  EXPECT_EQ(count([] {
              std::atomic<int> stage{0};
              together(
                  [&] {
                    stage.store(1);
                    stage.store(2);
                  },
                  [&] {
                    while (stage.load() != 2) {
                    }
                  });
            }),
            4u);
}

TEST(Loops, ALoopThatCountsIsExploredEveryTime) {
  // It gives up after three tries: they all come before the store, or the store comes before the i-th.
  int tries[4] = {};
  EXPECT_EQ(count([&] {
              std::atomic<bool> ready{false};
              int tried = 0;
              together([&] { ready.store(true); },
                       [&] {
                         for (tried = 0; tried < 3; ++tried) {
                           if (ready.load()) break;
                         }
                       });
              ++tries[tried];
            }),
            4u);
  for (int n : tries) EXPECT_EQ(n, 1);
}

TEST(Loops, ASpinLock) {
  for (bool looks_first : {false, true}) {
    std::uint64_t n = count([&] {
      std::atomic<bool> held{false};
      int shared = 0;
      auto body = [&] {
        for (;;) {
          if (looks_first && held.load()) continue;
          if (!held.exchange(true)) break;
        }
        ++shared;
        held.store(false);
      };
      together(body, body);
      EXPECT_EQ(shared, 2);
    });
    EXPECT_GE(n, 2u);
    EXPECT_LE(n, 40u);
  }
}

TEST(Loops, ACompareAndSwapThatWaits) {
  EXPECT_GE(count([] {
              std::atomic<int> owner{0};
              auto body = [&](int me) {
                int nobody = 0;
                while (!owner.compare_exchange_strong(nobody, me)) nobody = 0;
                owner.store(0);
              };
              together([&] { body(1); }, [&] { body(2); });
            }),
            2u);
}

TEST(Loops, APollUnderALock) {
  EXPECT_LE(count([] {
              std::mutex m;
              bool ready = false;
              together(
                  [&] {
                    std::lock_guard guard(m);
                    ready = true;
                  },
                  [&] {
                    for (;;) {
                      std::lock_guard guard(m);
                      if (ready) break;
                    }
                  });
            }),
            3u);
}

TEST(Loops, TwoThatWaitForEachOtherAreALivelock) {
  duress::CheckResult result = all([] {
    std::atomic<bool> a{false}, b{false};
    together(
        [&] {
          while (!a.load()) {
          }
          b.store(true);
        },
        [&] {
          while (!b.load()) {
          }
          a.store(true);
        });
  });
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.failure, "livelock");
}

TEST(Found, ALostUpdateWithItsInterleaving) {
  auto closure = [] {
    std::atomic<int> x{0};
    auto body = [&] { x.store(x.load() + 1); };
    together(body, body);
    if (x.load() != 2) throw std::runtime_error("lost");
  };
  duress::CheckResult result = all(closure);
  EXPECT_FALSE(result.passed);
  EXPECT_NE(result.failure.find("lost"), std::string::npos);
  duress::CheckOptions quiet;
  quiet.quiet = true;
  EXPECT_FALSE(duress::replay(closure, result.token, quiet).passed);
}

TEST(Found, ThreadsOfThreadsHaveTheSameNamesInEveryInterleaving) {
  EXPECT_EQ(count([] {
              std::atomic<int> x{0};
              auto parent = [&] {
                std::thread child([&] { x.fetch_add(1); });
                child.join();
              };
              together(parent, parent);
            }),
            2u);
}

}  // namespace
