// SPDX-License-Identifier: Apache-2.0
//
// duress::check under rc11: what only weak memory shows is found, and replays; what is right is proved.
#include <stdexcept>
#include <string>

#include "closures.h"

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed, kAcquire = std::memory_order_acquire,
               kRelease = std::memory_order_release, kSeqCst = std::memory_order_seq_cst;

duress::CheckResult under(const char* model, const Body& closure, bool exhaustive = true) {
  duress::CheckOptions options;
  options.exhaustive = exhaustive;
  options.quiet = true;
  options.model = model;
  return duress::check(closure, options);
}

bool proved(const Body& closure) {
  duress::CheckResult result = under("rc11", closure);
  if (!result.passed || !result.complete) printf("%s\n%s\n", result.report.c_str(), result.bound.c_str());
  return result.passed && result.complete && result.executions > 0;
}

/// Right under sc; under rc11 it fails with `what`, and its token fails so again.
bool fails_weakly(const Body& closure, const std::string& what) {
  duress::CheckResult strong = under("sc", closure), weak = under("rc11", closure);
  duress::CheckOptions quiet;
  quiet.quiet = true;
  duress::CheckResult again = duress::replay(closure, weak.token, quiet);
  bool good = strong.passed && strong.complete && !weak.passed &&
              weak.failure.find(what) != std::string::npos && again.failure == weak.failure;
  if (!good)
    printf("%s\n%s\n%s\n%s\n", strong.report.c_str(), strong.bound.c_str(), weak.report.c_str(),
           again.failure.c_str());
  return good;
}

// An exception may not leave a thread: it is told by a flag.
Body message(std::memory_order store, std::memory_order load) {
  return [=] {
    std::atomic<int> data{0}, ready{0};
    bool stale = false;
    together(
        [&] {
          data.store(1, kRelaxed);
          ready.store(1, store);
        },
        [&] { stale = ready.load(load) == 1 && data.load(kRelaxed) != 1; });
    if (stale) throw std::runtime_error("stale");
  };
}

TEST(Weak, AMessage) {
  EXPECT_TRUE(fails_weakly(message(kRelaxed, kAcquire), "stale"));
  EXPECT_TRUE(fails_weakly(message(kRelease, kRelaxed), "stale"));
  EXPECT_TRUE(proved(message(kRelease, kAcquire)));
}

Body peterson(std::memory_order store, std::memory_order load) {
  return [=] {
    std::atomic<bool> wants[2] = {false, false};
    std::atomic<int> turn{0};
    int counter = 0;
    auto body = [&](int me) {
      wants[me].store(true, store);
      turn.store(1 - me, store);
      if (wants[1 - me].load(load) && turn.load(load) == 1 - me) return;  // the other one may be in there
      ++counter;
    };
    together([&] { body(0); }, [&] { body(1); });
  };
}

TEST(Weak, PetersonsEntry) {
  EXPECT_TRUE(fails_weakly(peterson(kRelease, kAcquire), "data race on counter"));
}

TEST(Weak, ASpinLock) {
  auto lock = [](std::memory_order unlock) {
    return [unlock] {
      std::atomic<bool> held{false};
      int counter = 0;
      auto body = [&] {
        while (held.exchange(true, kAcquire)) {
        }
        ++counter;
        held.store(false, unlock);
      };
      together(body, body);
      if (counter != 2) throw std::runtime_error("lost");
    };
  };
  EXPECT_TRUE(proved(lock(kRelease)));
  // The racing accesses are as weak as relaxed atomics.
  duress::CheckResult result = under("rc11", lock(kRelaxed));
  EXPECT_TRUE(result.failure.find("lost") != std::string::npos);
  EXPECT_TRUE(result.report.find("\nand a data race on counter: ") != std::string::npos);
}

TEST(Weak, AMutex) {
  EXPECT_TRUE(proved(sections_of_three));
}

TEST(Weak, WhatIsNotPutIntoAllOrdersIsSaid) {
  duress::CheckResult result = under("rc11", [] { wait_for_it(true); });
  EXPECT_TRUE(result.passed);
  EXPECT_FALSE(result.complete);
  EXPECT_FALSE(result.bound.empty());
}

template <typename Value>
Body on_the_stack() {
  return [] {
    std::atomic<Value> x{0}, y{0};
    Value seen[2];
    together(
        [&] {
          x.store(1, kSeqCst);
          seen[0] = y.load(kSeqCst);
        },
        [&] {
          y.store(1, kSeqCst);
          seen[1] = x.load(kSeqCst);
        });
    EXPECT_TRUE(seen[0] || seen[1]);
  };
}

TEST(Weak, AtomicsOfOtherSizesWhereEarlierOnesWere) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(proved(on_the_stack<int>()));
    EXPECT_TRUE(proved(on_the_stack<long>()));
    EXPECT_TRUE(proved(on_the_stack<char>()));
  }
}

TEST(Weak, TheSearchFindsItToo) {
  duress::CheckResult result = under("rc11", message(kRelaxed, kRelaxed), /*exhaustive=*/false);
  EXPECT_TRUE(result.failure.find("stale") != std::string::npos);
  duress::CheckOptions quiet;
  quiet.quiet = true;
  duress::CheckResult again = duress::replay(message(kRelaxed, kRelaxed), result.token, quiet);
  EXPECT_TRUE(again.failure == result.failure);
  EXPECT_TRUE(under("rc11", message(kRelease, kAcquire), /*exhaustive=*/false).passed);
}

}  // namespace

int main(int count, char** suites) {
  return small_test::run(count, suites);
}
