// SPDX-License-Identifier: Apache-2.0
// Twenty cases. Store.PublishesTheTable, Store.KeepsItsSize and Counter.CountsBoth have a race each, on a variable of
// their own; the first and the second do harm.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace {

template <typename First, typename Second>
void side_by_side(First first, Second second) {
  std::thread one(first), two(second);
  one.join();
  two.join();
}

int table_value;  // race: written without a lock, read by who was told so
std::atomic<int> table_ready;
int store_size;  // race: read while it is written
int hits;        // race: the same value

std::mutex mutex;
int guarded;
std::atomic<int> counted;

TEST(Store, PublishesTheTable) {
  table_value = 0;
  table_ready.store(0);
  side_by_side(
      [] {
        table_value = 42;
        table_ready.store(1, std::memory_order_relaxed);
      },
      [] {
        if (table_ready.load(std::memory_order_relaxed) == 1) {
          int seen = table_value;
          ASSERT_EQ(seen, 42);
        }
      });
}

TEST(Store, KeepsItsSize) {
  store_size = 0;
  side_by_side([] { store_size = 1; },
               [] {
                 int seen = store_size;
                 ASSERT_EQ(seen, 0) << "somebody else has the store";
               });
}

TEST(Counter, CountsBoth) {
  hits = 1;
  side_by_side([] { hits = 1; }, [] { hits = 1; });
  ASSERT_EQ(hits, 1);
}

void guarded_case() {
  guarded = 0;
  auto add = [] {
    std::lock_guard guard(mutex);
    ++guarded;
  };
  side_by_side(add, add);
  ASSERT_EQ(guarded, 2);
}

void atomic_case() {
  counted = 0;
  side_by_side([] { ++counted; }, [] { ++counted; });
  ASSERT_EQ(counted.load(), 2);
}

#define QUIET(suite, name, body) \
  TEST(suite, name) {            \
    body();                      \
  }
QUIET(Store, Guarded1, guarded_case)
QUIET(Store, Guarded2, guarded_case)
QUIET(Store, Guarded3, guarded_case)
QUIET(Store, Guarded4, guarded_case)
QUIET(Store, Guarded5, guarded_case)
QUIET(Store, Guarded6, guarded_case)
QUIET(Store, Guarded7, guarded_case)
QUIET(Store, Guarded8, guarded_case)
QUIET(Counter, Atomic1, atomic_case)
QUIET(Counter, Atomic2, atomic_case)
QUIET(Counter, Atomic3, atomic_case)
QUIET(Counter, Atomic4, atomic_case)
QUIET(Counter, Atomic5, atomic_case)
QUIET(Counter, Atomic6, atomic_case)

class Sizes : public ::testing::TestWithParam<int> {};
TEST_P(Sizes, AreGuarded) {
  guarded_case();
  ASSERT_GT(GetParam(), 0);
}
INSTANTIATE_TEST_SUITE_P(Few, Sizes, ::testing::Values(1, 2, 3));

TEST(Store, DISABLED_NeverRun) {
  FAIL();
}

}  // namespace
