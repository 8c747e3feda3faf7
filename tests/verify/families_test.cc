// SPDX-License-Identifier: Apache-2.0
//
// duress::check with `exhaustive`: exact numbers of interleavings of ordinary std::thread code, and one
// example of each thing that is found.
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "closures.h"

namespace {

void updates(int threads, int each) {
  std::atomic<int> x{0};
  std::vector<Body> all(threads, [&] {
    for (int k = 0; k < each; ++k) x.fetch_add(1);
  });
  run_together(all.data(), threads);
  EXPECT_EQ(x.load(), threads * each);
}

void readers(int n) {
  std::atomic<int> x{0};
  std::vector<Body> all;
  all.push_back([&] { x.store(1); });
  for (int i = 0; i < n; ++i) all.push_back([&] { (void)x.load(); });
  run_together(all.data(), static_cast<int>(all.size()));
}

void last_zero(int n) {
  std::unique_ptr<std::atomic<int>[]> a(new std::atomic<int>[n + 1]());
  std::vector<Body> all;
  all.push_back([&] {
    int i = n;
    while (a[i].load() != 0) --i;
  });
  for (int j = 1; j <= n; ++j) all.push_back([&a, j] { a[j].store(a[j - 1].load() + 1); });
  run_together(all.data(), static_cast<int>(all.size()));
}

void indexer(int n) {
  std::unique_ptr<std::atomic<int>[]> table(new std::atomic<int>[128]());
  std::vector<Body> all;
  for (int t = 0; t < n; ++t) {
    all.push_back([&table, t] {
      for (int m = 1; m <= 4; ++m) {
        int w = 11 * m + t, at = 7 * w % 128;
        for (int empty = 0; !table[at].compare_exchange_strong(empty, w); empty = 0) at = (at + 1) % 128;
      }
    });
  }
  run_together(all.data(), static_cast<int>(all.size()));
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
}

TEST(Families, LastZero) {
  EXPECT_EQ(count([] { last_zero(5); }), 64u);
}

TEST(Families, Indexer) {
  EXPECT_EQ(count([] { indexer(12); }), 8u);
}

TEST(LargeFamilies, Readers) {
  EXPECT_EQ(count([] { readers(13); }), 8192u);
}

TEST(LargeFamilies, LastZero) {
  EXPECT_EQ(count([] { last_zero(10); }), 3328u);
  EXPECT_EQ(count([] { last_zero(15); }), 147456u);
}

TEST(LargeFamilies, Indexer) {
  EXPECT_EQ(count([] { indexer(15); }), 4096u);
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
  EXPECT_TRUE(result.failure == "deadlock");
  EXPECT_FALSE(result.token.empty());
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
  for (int n : tries) EXPECT_GE(n, 1);  // twice if it was seen before the loop was known as one
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
  EXPECT_TRUE(result.failure.find("lost") != std::string::npos);
  duress::CheckOptions quiet;
  quiet.quiet = true;
  EXPECT_FALSE(duress::replay(closure, result.token, quiet).passed);
}

}  // namespace

int main(int count, char** suites) {
  return small_test::run(count, suites);
}
