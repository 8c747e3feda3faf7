// SPDX-License-Identifier: Apache-2.0
//
// duress::check reports no race where synchronisation, or a block's lifetime, orders the accesses.
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <shared_mutex>
#include <vector>

#include "racing_closures.h"

namespace {

struct Point {
  int x = 0, y = 0;
};

TEST(NoRaces, AMutex) {
  EXPECT_TRUE(clean([] {
    std::mutex m;
    int shared = 0;
    auto body = [&] {
      std::lock_guard guard(m);
      ++shared;
    };
    together(body, body, body);
    EXPECT_EQ(shared, 3);
  }));
}

TEST(NoRaces, ReadersAndAWriter) {
  EXPECT_TRUE(clean([] {
    std::shared_mutex m;
    int shared = 0;
    auto read = [&] {
      std::shared_lock guard(m);
      EXPECT_LE(shared, 1);
    };
    together(read, read, [&] {
      std::lock_guard guard(m);
      shared = 1;
    });
  }));
}

TEST(NoRaces, ReleaseAndAcquire) {
  EXPECT_TRUE(clean([] {
    std::atomic<Point*> shared{nullptr};
    together(
        [&] {
          auto* p = new Point;
          p->x = 7;
          shared.store(p, std::memory_order_release);
        },
        [&] {
          if (Point* p = shared.load(std::memory_order_acquire)) EXPECT_EQ(p->x, 7);
        });
    delete shared.load();
  }));
}

TEST(NoRaces, FencesAndReleaseSequences) {
  auto publish = [](bool fence) {
    return [fence] {
      std::atomic<int> ready{0};
      int data = 0;
      together(
          [&] {
            data = 1;
            if (fence) std::atomic_thread_fence(std::memory_order_release);
            ready.store(2, std::memory_order_relaxed);
          },
          [&] { ready.fetch_add(4, std::memory_order_relaxed); },
          [&] {
            if (ready.load(std::memory_order_relaxed) == 6) {
              std::atomic_thread_fence(std::memory_order_acquire);
              EXPECT_EQ(data, 1);
            }
          });
    };
  };
  EXPECT_TRUE(clean(publish(true)));
  EXPECT_TRUE(races(publish(false), "*data"));
}

TEST(NoRaces, JoiningAndCreating) {
  EXPECT_TRUE(clean([] {
    int shared = 1;
    std::thread first([&] { ++shared; });
    first.join();
    ++shared;
    std::thread second([&] {
      ++shared;
      std::thread third([&] { ++shared; });
      third.join();
      ++shared;
    });
    second.join();
    EXPECT_EQ(++shared, 7);
  }));
}

TEST(NoRaces, ACondition) {
  EXPECT_TRUE(clean([] {
    std::mutex m;
    std::condition_variable changed;
    std::optional<Point> box;
    together(
        [&] {
          std::lock_guard guard(m);
          box.emplace().x = 3;
          changed.notify_one();
        },
        [&] {
          std::unique_lock guard(m);
          changed.wait(guard, [&] { return box.has_value(); });
          EXPECT_EQ(box->x, 3);
        });
  }));
}

TEST(NoRaces, Once) {
  EXPECT_TRUE(clean([] {
    std::once_flag once;
    int made = 0;
    auto body = [&] {
      std::call_once(once, [&] { made = 1; });
      EXPECT_EQ(made, 1);
    };
    together(body, body);
  }));
}

TEST(NoRaces, AStaticOfAFunction) {
  EXPECT_TRUE(clean([] {
    auto body = [] {
      static std::vector<int> made = {1, 2, 3};
      EXPECT_EQ(made[2], 3);
    };
    together(body, body);
  }));
}

TEST(NoRaces, SemaphoresBarriersAndLatches) {
  EXPECT_TRUE(clean([] {
    sem_t s;
    sem_init(&s, 0, 0);
    int shared = 0;
    together(
        [&] {
          shared = 1;
          sem_post(&s);
        },
        [&] {
          sem_wait(&s);
          EXPECT_EQ(shared, 1);
        });
    sem_destroy(&s);
  }));
  EXPECT_TRUE(clean([] {
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, 2);
    int cells[2] = {};
    auto body = [&](int me) {
      cells[me] = me + 1;
      pthread_barrier_wait(&barrier);
      EXPECT_EQ(cells[1 - me], 2 - me);
    };
    together([&] { body(0); }, [&] { body(1); });
    pthread_barrier_destroy(&barrier);
  }));
  EXPECT_TRUE(clean([] {
    std::binary_semaphore s{0};
    std::latch latch(2);
    int shared = 0;
    together(
        [&] {
          shared = 1;
          s.release();
          latch.arrive_and_wait();
        },
        [&] {
          s.acquire();
          EXPECT_EQ(shared, 1);
          latch.arrive_and_wait();
        });
  }));
}

TEST(NoRaces, AFuture) {
  EXPECT_TRUE(clean([] {
    std::promise<std::unique_ptr<Point>> promise;
    std::future<std::unique_ptr<Point>> future = promise.get_future();
    together(
        [&] {
          auto p = std::make_unique<Point>();
          p->x = 5;
          promise.set_value(std::move(p));
        },
        [&] { EXPECT_EQ(future.get()->x, 5); });
  }));
}

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

TEST(NoRaces, ASpinLock) {
  EXPECT_TRUE(clean([] {
    std::atomic<bool> held{false};
    int shared = 0;
    auto body = [&] {
      while (held.exchange(true, std::memory_order_acquire)) {
      }
      ++shared;
      held.store(false, std::memory_order_release);
    };
    together(body, body);
    EXPECT_EQ(shared, 2);
  }));
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
