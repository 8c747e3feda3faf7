// SPDX-License-Identifier: Apache-2.0
#include "cache.h"

#include <gtest/gtest.h>

#include <thread>

TEST(Cache, KeepsWhatIsPut) {
  Cache cache;
  std::thread other([&] { cache.put(1); });
  int newest = cache.newest_locked();
  EXPECT_TRUE(newest == -1 || newest == 1);
  other.join();
  EXPECT_EQ(cache.newest_locked(), 1);
}

// newest() looks twice: if clear() comes in between, slots_.at() throws.
TEST(Cache, IsCleared) {
  Cache cache;
  cache.put(1);
  std::thread other([&] { cache.clear(); });
  cache.newest();
  other.join();
  EXPECT_EQ(cache.newest_locked(), -1);
}
