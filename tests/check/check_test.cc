// SPDX-License-Identifier: Apache-2.0
//
// duress::check, built as a user builds it: with duress-c++. Not with duress/gtest.h, which would
// tell GoogleTest of the failures that are wanted here.
#include <duress/test.h>
//
#include <gtest/gtest.h>
#include <pthread.h>
#include <threads.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <random>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

duress::CheckOptions quiet(std::uint64_t runs = 1000) {
  duress::CheckOptions options;
  options.quiet = true;
  options.runs = runs;
  return options;
}

auto lost_update = [] {
  int counter = 0;
  std::thread other([&] { ++counter; });
  ++counter;
  other.join();
  if (counter != 2) throw std::runtime_error("lost update");
};

TEST(Check, FindsALostUpdate) {
  auto result = duress::check(lost_update, quiet());
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.failure, "exception std::runtime_error: lost update");
  EXPECT_NE(result.report.find("counter"), std::string::npos) << result.report;
  EXPECT_NE(result.report.find("T1"), std::string::npos);
}

TEST(Check, ReplaysHundredOfHundred) {
  auto found = duress::check(lost_update, quiet());
  ASSERT_FALSE(found.passed);
  auto first = duress::replay(lost_update, found.token, quiet());
  for (int i = 0; i < 100; ++i) {
    auto again = duress::replay(lost_update, found.token, quiet());
    ASSERT_FALSE(again.passed) << i;
    ASSERT_EQ(again.failure, found.failure);
    ASSERT_EQ(again.token, first.token);
  }
}

TEST(Check, SameSeedSameExecution) {
  auto first = duress::check(lost_update, quiet());
  auto second = duress::check(lost_update, quiet());
  EXPECT_EQ(first.executions, second.executions);
  EXPECT_EQ(first.token, second.token);
}

TEST(Check, FindsADeadlockAndGoesOn) {
  auto abba = [] {
    std::mutex a, b;
    std::thread other([&] {
      std::lock_guard<std::mutex> first(a);
      std::lock_guard<std::mutex> second(b);
    });
    {
      std::lock_guard<std::mutex> first(b);
      std::lock_guard<std::mutex> second(a);
    }
    other.join();
  };
  auto result = duress::check(abba, quiet());
  EXPECT_EQ(result.failure, "deadlock");
  EXPECT_FALSE(duress::check(abba, quiet()).passed);
  EXPECT_TRUE(duress::check([] {}, quiet()).passed);
}

TEST(Check, CorrectClosuresPass) {
  auto result = duress::check(
      [] {
        std::mutex mutex;
        std::condition_variable ready;
        std::atomic<int> sum{0};
        bool go = false;
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) {
          threads.emplace_back([&] {
            std::unique_lock<std::mutex> lock(mutex);
            ready.wait(lock, [&] { return go; });
            sum++;
          });
        }
        {
          std::lock_guard<std::mutex> lock(mutex);
          go = true;
        }
        ready.notify_all();
        for (std::thread& t : threads) t.join();
        if (sum != 3) throw std::logic_error("sum");
      },
      quiet(500));
  EXPECT_TRUE(result.passed) << result.failure << result.report;
  EXPECT_EQ(result.executions, 500u);
}

TEST(Check, EveryKindOfBlocking) {
  auto result = duress::check(
      [] {
        std::shared_mutex shared;
        std::counting_semaphore<> semaphore(0);
        std::latch latch(2);
        std::once_flag once;
        std::promise<int> promise;
        std::atomic<int> flag{0};
        int initialised = 0;
        std::thread a([&] {
          std::call_once(once, [&] { ++initialised; });
          {
            std::shared_lock<std::shared_mutex> lock(shared);
          }
          semaphore.release();
          latch.arrive_and_wait();
          promise.set_value(7);
          flag.store(1);
          flag.notify_one();
        });
        std::call_once(once, [&] { ++initialised; });
        {
          std::unique_lock<std::shared_mutex> lock(shared);
        }
        semaphore.acquire();
        latch.arrive_and_wait();
        flag.wait(0);
        int got = promise.get_future().get();
        a.join();
        if (got != 7 || initialised != 1) throw std::logic_error("wrong");
      },
      quiet(500));
  EXPECT_TRUE(result.passed) << result.failure << result.report;
}

struct Noted {
  static int alive;
  int value = 0;
  Noted() { ++alive; }
  ~Noted() { --alive; }
};
int Noted::alive = 0;
thread_local Noted noted;
thread_local int counted = 5;

TEST(Check, ThreadLocalsStartAnewAndAreDestroyed) {
  auto result = duress::check(
      [] {
        int seen = 0;
        std::thread other([&] {
          noted.value++;
          counted++;
          seen = noted.value * 100 + counted;
        });
        other.join();
        if (seen != 106) throw std::logic_error("thread-local storage of an earlier execution");
        if (Noted::alive != 0) throw std::logic_error("not destroyed");
      },
      quiet(50));
  EXPECT_TRUE(result.passed) << result.failure;
}

TEST(Check, ThreadsThatExitEarly) {
  auto result = duress::check(
      [] {
        struct Guard {
          int* left;
          ~Guard() { ++*left; }
        };
        static int left;
        left = 0;
        pthread_t id;
        pthread_create(
            &id, nullptr,
            [](void*) -> void* {
              Guard guard{&left};
              pthread_exit(&left);
            },
            nullptr);
        void* value = nullptr;
        pthread_join(id, &value);
        if (value != &left || left != 1) throw std::logic_error("pthread_exit");
      },
      quiet(50));
  EXPECT_TRUE(result.passed) << result.failure;
}

TEST(Check, CancellationAtAWait) {
  auto result = duress::check(
      [] {
        static std::mutex mutex;
        static std::condition_variable never;
        pthread_t id;
        pthread_create(
            &id, nullptr,
            [](void*) -> void* {
              std::unique_lock<std::mutex> lock(mutex);
              for (;;) never.wait(lock);
            },
            nullptr);
        pthread_cancel(id);
        void* value = nullptr;
        pthread_join(id, &value);
        if (value != PTHREAD_CANCELED) throw std::logic_error("not cancelled");
        if (!mutex.try_lock()) throw std::logic_error("the mutex was not given back");
        mutex.unlock();
      },
      quiet(100));
  EXPECT_TRUE(result.passed) << result.failure << result.report;
}

TEST(Check, TimeIsVirtual) {
  auto result = duress::check(
      [] {
        auto start = std::chrono::steady_clock::now();
        std::thread sleeper([] { std::this_thread::sleep_for(std::chrono::hours(1)); });
        sleeper.join();
        if (std::chrono::steady_clock::now() - start < std::chrono::hours(1)) throw std::logic_error("clock");
      },
      quiet(100));
  EXPECT_TRUE(result.passed) << result.failure;
}

TEST(Check, SleepIsNoSynchronisation) {
  auto result = duress::check(
      [] {
        std::atomic<int> ready{0};
        std::thread other([&] { ready = 1; });
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        int seen = ready;
        other.join();
        if (!seen) throw std::runtime_error("it was not ready in time");
      },
      quiet());
  EXPECT_FALSE(result.passed);
}

TEST(Check, SpinningEnds) {
  for (const char* strategy : {"random", "pct", "pos", "round-robin"}) {
    auto options = quiet(200);
    options.strategy = strategy;
    auto result = duress::check(
        [] {
          std::atomic<bool> go{false};
          std::thread other([&] { go = true; });
          while (!go) {
          }
          other.join();
        },
        options);
    EXPECT_TRUE(result.passed) << strategy << ": " << result.failure;
  }
}

TEST(Check, RandomnessComesFromTheSeed) {
  auto roll = [] {
    std::random_device device;
    if (device() % 16 == 3) throw std::runtime_error("three");
  };
  auto first = duress::check(roll, quiet()), second = duress::check(roll, quiet());
  EXPECT_FALSE(first.passed);
  EXPECT_EQ(first.executions, second.executions);
}

TEST(Check, DetachedThreadsEndBeforeTheNextExecution) {
  static std::atomic<int> running;
  auto result = duress::check(
      [] {
        if (running.load() != 0) throw std::logic_error("one of the last execution is left");
        std::thread([] {
          running++;
          std::this_thread::yield();
          running--;
        }).detach();
      },
      quiet(200));
  EXPECT_TRUE(result.passed) << result.failure;
}

TEST(Check, C11Threads) {
  auto result = duress::check(
      [] {
        thrd_t id;
        thrd_create(&id, [](void*) { return 7; }, nullptr);
        int value = 0;
        thrd_join(id, &value);
        if (value != 7) throw std::logic_error("thrd_join");
      },
      quiet(20));
  EXPECT_TRUE(result.passed) << result.failure;
}

TEST(Check, ManyThreads) {
  auto result = duress::check(
      [] {
        std::atomic<int> sum{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 100; ++i) threads.emplace_back([&] { sum++; });
        for (std::thread& t : threads) t.join();
        if (sum != 100) throw std::logic_error("sum");
      },
      quiet(20));
  EXPECT_TRUE(result.passed) << result.failure;
}

TEST(Check, BadTokens) {
  for (const char* token : {"", "garbage", "D1.x.AAAA", "D9.check_test.AQAB"}) {
    auto result = duress::replay([] {}, token, quiet());
    EXPECT_FALSE(result.passed) << token;
    EXPECT_NE(result.failure.find("token"), std::string::npos);
  }
}

TEST(Check, AssertionsOfTheCallerDecide) {
  static bool bad;
  auto options = quiet();
  options.failed = [] { return bad; };
  auto result = duress::check(
      [] {
        bad = false;
        std::atomic<int> order{0};
        int first = 0;
        std::thread other([&] { first = ++order; });
        ++order;
        other.join();
        bad = first == 1;
      },
      options);
  EXPECT_FALSE(result.passed);
}

}  // namespace
