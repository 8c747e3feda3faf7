// SPDX-License-Identifier: Apache-2.0
//
// duress::check with `exhaustive`, in short: exact numbers, a deadlock, a race, a loop that counts. Little to
// compile.
#include <duress/test.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "small_test.h"

namespace {

duress::CheckResult all(void (*closure)()) {
  duress::CheckOptions options;
  options.exhaustive = options.quiet = true;
  return duress::check(closure, options);
}

void together(void (*first)(), void (*second)()) {
  std::thread a(first), b(second);
  a.join();
  b.join();
}

std::atomic<int> x;
std::mutex m, n;
int tried, tries[4];

TEST(First, Updates) {
  duress::CheckResult result = all([] {
    auto body = [] {
      for (int k = 0; k < 3; ++k) x.fetch_add(1);
    };
    x = 0;
    together(body, body);
    EXPECT_EQ(x.load(), 6);
  });
  EXPECT_TRUE(result.passed && result.complete);
  EXPECT_EQ(result.executions, 20);
}

TEST(First, Deadlock) {
  duress::CheckResult result = all([] {
    together(
        [] {
          std::lock_guard first(m);
          std::lock_guard second(n);
        },
        [] {
          std::lock_guard first(n);
          std::lock_guard second(m);
        });
  });
  EXPECT_FALSE(result.passed);
  EXPECT_TRUE(result.failure == "deadlock");
}

int plain;

TEST(First, ARace) {
  duress::CheckResult result = all([] {
    x = 0;
    together(
        [] {
          plain = 1;
          x.store(1, std::memory_order_relaxed);
        },
        [] {
          if (x.load(std::memory_order_acquire) == 1) ++plain;
        });
  });
  EXPECT_TRUE(!result.passed && result.complete);  // every interleaving of the race was seen
  EXPECT_TRUE(result.failure.find("data race on plain: first_test.cc:") == 0);
  EXPECT_TRUE(result.report.find("(race)") != std::string::npos);
}

TEST(First, NoRace) {
  duress::CheckResult result = all([] {
    x = 0;
    together(
        [] {
          plain = 1;
          x.store(1, std::memory_order_release);
        },
        [] {
          if (x.load(std::memory_order_acquire) == 1) ++plain;
        });
  });
  EXPECT_TRUE(result.passed && result.complete);
  EXPECT_EQ(result.executions, 2);
}

TEST(First, ALoopThatCounts) {
  duress::CheckResult result = all([] {
    x = 0;
    together([] { x = 1; },
             [] {
               for (tried = 0; tried < 3 && x == 0; ++tried) {
               }
             });
    ++tries[tried];
  });
  EXPECT_TRUE(result.passed && result.complete);
  EXPECT_EQ(result.executions, 4);
  for (int times : tries) EXPECT_GE(times, 1);
}

}  // namespace

int main(int count, char** suites) {
  return small_test::run(count, suites);
}
