// SPDX-License-Identifier: Apache-2.0
//
// Data races as failures of GoogleTest; run.sh looks at what is printed.
#include <duress/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace {

class Cache {
 public:
  void hit() {
    ++hits_;
    std::lock_guard guard(mutex_);
    ++size_;
  }
  int hits() const { return hits_; }

 private:
  std::mutex mutex_;
  int hits_ = 0, size_ = 0;
};

void use_a_cache() {
  Cache cache;
  std::thread other([&] { cache.hit(); });
  cache.hit();
  other.join();
}

TEST(Races, AreFailures) {
  duress::check(use_a_cache, {.exhaustive = true});
}

TEST(Races, AreFailuresOfASearch) {
  duress::check(use_a_cache);
}

TEST(Races, HarmIsToldFirst) {
  duress::check([] {
    Cache cache;
    std::thread other([&] { cache.hit(); });
    cache.hit();
    other.join();
    EXPECT_EQ(cache.hits(), 2);
  });
}

TEST(Races, MayBeLeftAlone) {
  duress::check(use_a_cache, {.exhaustive = true, .races = false});
}

TEST(Races, NoneInAtomics) {
  auto result = duress::check(
      [] {
        std::atomic<int> hits{0};
        std::thread other([&] { ++hits; });
        ++hits;
        other.join();
        EXPECT_EQ(hits.load(), 2);
      },
      {.exhaustive = true});
  EXPECT_TRUE(result.complete);
}

}  // namespace
