// SPDX-License-Identifier: Apache-2.0
//
// duress::check reports no race where synchronisation orders the accesses; where lifetimes do, it is
// no_races_lifetimes_test.cc.
#include <pthread.h>

#include <atomic>
#include <condition_variable>
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
  EXPECT_TRUE(clean(sections_of_three));
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
  EXPECT_TRUE(races(publish(false), "data"));
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
  EXPECT_TRUE(clean(ordered_by_a_semaphore));
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

}  // namespace

int main(int count, char** suites) {
  return small_test::run(count, suites);
}
