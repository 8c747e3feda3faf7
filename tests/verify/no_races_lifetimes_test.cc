// SPDX-License-Identifier: Apache-2.0
//
// duress::check reports no race where a block's lifetime separates the accesses: memory that is used again,
// outlives an execution, is counted, large, or of one thread only.
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "racing_closures.h"

namespace {

struct Point {
  int x = 0, y = 0;
};

TEST(NoRaces, BlocksThatAreUsedAgain) {
  // Each thread frees what the other allocated, and allocates again; the next execution gets the same blocks.
  EXPECT_TRUE(clean([] {
    std::mutex m;
    std::vector<std::unique_ptr<Point>> pool;
    auto body = [&](int value) {
      auto mine = std::make_unique<Point>();
      mine->x = value;
      std::unique_ptr<Point> theirs;
      {
        std::lock_guard guard(m);
        if (!pool.empty()) {
          theirs = std::move(pool.back());
          pool.pop_back();
        }
        pool.push_back(std::move(mine));
      }
      if (theirs) EXPECT_EQ(theirs->x, 1 - value);
      theirs.reset();
      auto again = std::make_unique<Point>();
      again->x = again->y = 9;
    };
    together([&] { body(0); }, [&] { body(1); });
  }));
}

TEST(NoRaces, WhatWasThereBefore) {
  // Made by the thread that calls check, outside; used inside; freed outside.
  auto data = std::make_unique<std::vector<int>>(100, 1);
  std::mutex m;
  for (int round = 0; round < 3; ++round) {
    (*data)[5] = round;
    EXPECT_TRUE(clean([&] {
      auto body = [&] {
        std::lock_guard guard(m);
        EXPECT_EQ((*data)[5], round);
        (*data)[7] += 1;
      };
      together(body, body);
    }));
    data = std::make_unique<std::vector<int>>(100 + round * 50, 1);
  }
}

TEST(NoRaces, ABlockThatOutlivesItsExecution) {
  // Allocated in an execution, freed outside of any; its place belongs to another block then.
  static Point* point_kept = nullptr;
  static char* bytes_kept = nullptr;
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(clean([] {
      std::mutex m;
      int shared = 0;
      auto body = [&] {
        std::lock_guard guard(m);
        ++shared;
      };
      together(body, body);
      delete point_kept;
      point_kept = new Point;
      delete[] bytes_kept;
      bytes_kept = new char[5000]();
    }));
    delete point_kept;
    delete[] bytes_kept;
    point_kept = new Point;
    bytes_kept = new char[16]();
  }
}

TEST(NoRaces, CountedPointers) {
  EXPECT_EQ(count([] {
              auto p = std::make_shared<std::vector<int>>(10, 1);
              std::weak_ptr<std::vector<int>> weak = p;
              std::thread a([p] { EXPECT_EQ((*p)[3], 1); });
              std::thread b([weak] {
                if (auto q = weak.lock()) EXPECT_EQ((*q)[3], 1);
              });
              p.reset();
              a.join();
              b.join();
            }) > 100,
            1);
}

TEST(NoRaces, ABlockTooLargeForCheapLooks) {
  EXPECT_TRUE(clean([] {
    std::vector<char> large(200'000);
    std::mutex m;
    together(
        [&] {
          std::lock_guard guard(m);
          large.assign(300'000, 1);
        },
        [&] {
          std::lock_guard guard(m);
          large[5] = 2;
        });
  }));
  EXPECT_TRUE(races(
      [] {
        std::unique_ptr<char[]> large(new char[200'000]);
        together([&] { memset(large.get(), 1, 200'000); }, [&] { large[150'000] = 2; });
      },
      "*std::unique_ptr<char[], std::default_delete<char[]> >::operator[]()", /*complete=*/false));
}

TEST(NoRaces, ThreadLocals) {
  static thread_local std::vector<int> mine;
  EXPECT_TRUE(clean([] {
    auto body = [] {
      mine.push_back(1);
      EXPECT_EQ(mine.size(), 1);
    };
    together(body, body);
  }));
}

}  // namespace

int main(int count, char** suites) {
  return small_test::run(count, suites);
}
