// SPDX-License-Identifier: Apache-2.0
//
// duress::check finds races on plain memory by happens-before, in every interleaving it explores.
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "racing_closures.h"

namespace {

int global;
bool flag;
double number;
__int128 wide;
char text[64];
struct Point {
  int x = 0, y = 0;
};

TEST(Races, AGlobal) {
  EXPECT_TRUE(races([] { together([] { global = 1; }, [] { global = 2; }); }, "global"));
}

TEST(Races, OneReadsOneWrites) {
  EXPECT_TRUE(races([] { together([] { global = 1; }, [] { (void)*const_cast<volatile int*>(&global); }); },
                    "global"));
}

TEST(Races, AFieldOnTheHeap) {
  EXPECT_TRUE(races(
      [] {
        auto p = std::make_unique<Point>();
        together([&] { p->y = 1; }, [&] { p->y = 2; });
      },
      "Point::y"));
}

TEST(Races, FieldsBesideEachOtherDoNot) {
  EXPECT_TRUE(clean([] {
    auto p = std::make_unique<Point>();
    together([&] { p->x = 1; }, [&] { p->y = 2; });
  }));
}

int numbers[8];
TEST(Races, AnElement) {
  EXPECT_TRUE(races([] { together([] { numbers[3] = 1; }, [] { numbers[3] = 2; }); }, "numbers[]"));
  EXPECT_TRUE(clean([] { together([] { numbers[3] = 1; }, [] { numbers[2] = 2; }); }));
}

TEST(Races, ALocalThatAThreadKnows) {
  EXPECT_TRUE(races(
      [] {
        int local = 0;
        std::thread other([&] { local = 1; });
        local = 2;
        other.join();
      },
      "local"));
}

TEST(Races, EveryKindOfValue) {
  EXPECT_TRUE(races([] { together([] { flag = true; }, [] { flag = true; }); }, "flag"));
  EXPECT_TRUE(races([] { together([] { number = 0.5; }, [] { number = 1.5; }); }, "number"));
  EXPECT_TRUE(races([] { together([] { wide = 1; }, [] { wide = 2; }); }, "wide"));
  EXPECT_TRUE(races([] { together([] { memset(text, 'a', 64); }, [] { text[40] = 'b'; }); }, "text[]"));
}

TEST(Races, AnAtomicAndAPlainAccess) {
  EXPECT_TRUE(races(
      [] {
        alignas(4) static int shared;
        together([] { __atomic_store_n(&shared, 1, __ATOMIC_SEQ_CST); }, [] { shared = 2; });
      },
      "shared"));
}

TEST(Races, APublicationBeforeItIsMade) {
  EXPECT_TRUE(races(
      [] {
        std::atomic<Point*> shared{nullptr};
        Point point;
        together(
            [&] {
              shared.store(&point);
              point.x = 7;
            },
            [&] {
              if (Point* p = shared.load()) EXPECT_LE(p->x, 7);
            });
      },
      "Point::x"));
}

TEST(Races, ARelaxedPublication) {
  auto publish = [](std::memory_order order) {
    return [order] {
      std::atomic<bool> ready{false};
      int data = 0;
      together(
          [&] {
            data = 1;
            ready.store(true, order);
          },
          [&] {
            if (ready.load(std::memory_order_acquire)) EXPECT_EQ(data, 1);
          });
    };
  };
  EXPECT_TRUE(races(publish(std::memory_order_relaxed), "data"));
  EXPECT_TRUE(clean(publish(std::memory_order_release)));
}

TEST(Races, InOneOfManyInterleavings) {
  // Only if three updates by the first come between two looks of the second.
  duress::CheckResult result = all([] {
    std::atomic<int> x{0};
    int data = 0;
    together(
        [&] {
          for (int i = 0; i < 3; ++i) x.fetch_add(1, std::memory_order_relaxed);
          data = 1;
        },
        [&] {
          int before = x.load(std::memory_order_relaxed), after = x.load(std::memory_order_relaxed);
          if (before == 0 && after == 3) (void)*const_cast<volatile int*>(&data);
        });
  });
  EXPECT_FALSE(result.passed);
  EXPECT_TRUE(has(result.failure, "data race on data: "));
  EXPECT_GT(result.executions, 1);
}

TEST(Races, UseAfterFree) {
  duress::CheckResult result = all([] {
    auto* p = new int(1);
    together([&] { delete p; }, [&] { (void)*const_cast<volatile int*>(p); });
  });
  EXPECT_FALSE(result.passed);
  EXPECT_TRUE(has(result.failure, "uses heap memory that was freed"));
}

TEST(Races, FreeBesideAUse) {
  duress::CheckOptions options;
  options.memory_errors = false;
  duress::CheckResult result = all(
      [] {
        auto* p = new int(1);
        together([&] { delete p; }, [&] { (void)*const_cast<volatile int*>(p); });
      },
      options);
  EXPECT_FALSE(result.passed);
  EXPECT_TRUE(has(result.failure, "frees"));
}

TEST(Races, ADetachedThread) {
  static int shared;
  EXPECT_TRUE(races(
      [] {
        std::thread([] { shared = 1; }).detach();
        shared = 2;
      },
      "shared"));
}

TEST(Races, WhatIsToldOfOne) {
  static std::mutex m;
  duress::CheckResult result = all([] {
    together(
        [] {
          std::lock_guard guard(m);
          global = 1;
        },
        [] { global = 2; });
  });
  EXPECT_TRUE(has(result.report, "T1 writes  "));
  EXPECT_TRUE(has(result.report, "T2 writes  "));
  EXPECT_TRUE(has(result.report, "holds lock #"));
  EXPECT_TRUE(has(result.report, "holds nothing"));
  EXPECT_TRUE(has(result.report, "replay: duress::replay(closure, \"D1."));
}

TEST(Races, CanBeLeftAlone) {
  duress::CheckOptions options;
  options.exhaustive = options.quiet = true;
  options.races = false;
  duress::CheckResult result =
      duress::check([] { together([] { global = 1; }, [] { global = 2; }); }, options);
  EXPECT_TRUE(result.passed && result.complete);
}

TEST(Races, AFailureIsToldBeforeARace) {
  duress::CheckResult result = all([] {
    int local = 0;
    together([&] { local = 1; }, [&] { local = 2; });
    throw std::runtime_error("thrown");
  });
  EXPECT_TRUE(has(result.failure, "thrown"));
  EXPECT_TRUE(has(result.report, "and a data race on local: "));
}

}  // namespace

int main(int count, char** suites) {
  return small_test::run(count, suites);
}
