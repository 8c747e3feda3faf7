// SPDX-License-Identifier: Apache-2.0
//
// duress::check with `exhaustive`: locks, waiting and loops that wait.
#include "closures.h"

#include <semaphore.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

namespace {

TEST(Locks, Sections) {
  EXPECT_EQ(count(sections_of_three), 6u);
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
  EXPECT_EQ(count(ordered_by_a_semaphore), 1u);
}

TEST(Waiting, ConditionWithALoop) {
  EXPECT_EQ(count([] { wait_for_it(true); }), 2u);
}

TEST(Waiting, SpuriousWakeUps) {
  duress::CheckOptions options;
  options.exhaustive = options.quiet = true;
  EXPECT_EQ(count([] { wait_for_it(false); }), 2u);
  options.spurious = 1;
  duress::CheckResult loop = duress::check([] { wait_for_it(true); }, options);
  EXPECT_TRUE(loop.passed && loop.complete);
  EXPECT_EQ(loop.executions, 4u);
  duress::CheckResult bare = duress::check([] { wait_for_it(false); }, options);
  EXPECT_FALSE(bare.passed);
  options.exhaustive = false;
  options.spurious = 0;
  duress::CheckResult again = duress::replay([] { wait_for_it(false); }, bare.token, options);
  EXPECT_FALSE(again.passed);
  EXPECT_TRUE(again.failure == bare.failure);
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
  EXPECT_TRUE(result.failure == "deadlock");
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
  EXPECT_TRUE(result.failure == "livelock");
}

TEST(Found, AfterADeadlockItsThreadsAreUsedAgain) {
  for (int round = 0; round < 3; ++round) {
    // The last one that runs ends; the others wait for ever.
    duress::CheckResult result = all([] {
      sem_t never;
      sem_init(&never, 0, 0);
      together([] {}, [&] { sem_wait(&never); });
    });
    EXPECT_TRUE(result.failure == "deadlock");
    EXPECT_EQ(count([] {
                std::atomic<int> x{0};
                together([&] { x.fetch_add(1); }, [&] { x.fetch_add(1); });
                EXPECT_EQ(x.load(), 2);
              }),
              2u);
  }
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

int main(int count, char** suites) {
  return small_test::run(count, suites);
}
