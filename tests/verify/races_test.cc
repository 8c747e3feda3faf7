// SPDX-License-Identifier: Apache-2.0
//
// duress::check finds races on plain memory by happens-before, in every interleaving it explores; and none
// where there is none.
#include <pthread.h>
#include <semaphore.h>

#include <algorithm>
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
#include <string>
#include <vector>

#include "closures.h"

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The check fails with a race on `variable` and nothing else, in all interleavings of the racing accesses; its
/// token shows the same race again.
bool races(const Body& closure, const std::string& variable, bool complete = true) {
  duress::CheckResult result = all(closure);
  std::string start = "data race on " + variable + ": races_test.cc:";
  duress::CheckOptions quiet;
  quiet.quiet = true;
  duress::CheckResult again = duress::replay(closure, result.token, quiet);
  bool good = !result.passed && result.complete == complete &&
              result.failure.compare(0, start.size(), start) == 0 && has(result.report, "(race)") &&
              !again.passed && again.failure == result.failure;
  if (!good) printf("%s\n%s\n%s\n", result.failure.c_str(), result.report.c_str(), again.failure.c_str());
  return good;
}

/// No race and no failure in all interleavings.
bool clean(const Body& closure) {
  return count(closure) > 0;
}

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
  EXPECT_TRUE(races(publish(std::memory_order_relaxed), "*data"));
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
  EXPECT_TRUE(has(result.failure, "data race on *data: "));
  EXPECT_GT(result.executions, 1);
}

TEST(Races, UseAfterFree) {
  duress::CheckResult result = all([] {
    auto* p = new int(1);
    together([&] { delete p; }, [&] { (void)*const_cast<volatile int*>(p); });
  });
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

// ---- racing accesses are steps: failures that they cause are found, and replay

bool fails(const Body& closure, const std::string& what) {
  duress::CheckResult result = all(closure);
  duress::CheckOptions quiet;
  quiet.quiet = true;
  duress::CheckResult again = duress::replay(closure, result.token, quiet);
  bool good = !result.passed && has(result.failure, what) && again.failure == result.failure;
  if (!good) printf("%s\n%s\n%s\n", result.failure.c_str(), result.report.c_str(), again.failure.c_str());
  return good;
}

TEST(RacingSteps, ALostUpdate) {
  EXPECT_TRUE(fails(
      [] {
        int counter = 0;
        together([&] { ++counter; }, [&] { ++counter; });
        if (counter != 2) throw std::runtime_error("lost");
      },
      "lost"));
}

TEST(RacingSteps, AWideValueTears) {
  EXPECT_TRUE(fails(
      [] {
        __int128 seen = 0, both = (static_cast<__int128>(1) << 64) + 1;
        wide = 0;
        together([&] { wide = both; }, [&] { seen = wide; });
        if (seen != 0 && seen != both) throw std::runtime_error("torn");
      },
      "torn"));
}

TEST(RacingSteps, ASecondRaceBehindTheFirst) {
  static int first, second;
  EXPECT_TRUE(fails(
      [] {
        first = second = 0;
        bool both = false;
        together([] { first = 1; },
                 [] {
                   if (first == 1) second = 1;
                 },
                 [&] { both = second == 1; });
        if (both) throw std::runtime_error("seen");
      },
      "seen"));
}

TEST(RacingSteps, AlsoIfRacesAreLeftAlone) {
  duress::CheckOptions options;
  options.exhaustive = options.quiet = true;
  options.races = false;
  duress::CheckResult result = duress::check(
      [] {
        int counter = 0;
        together([&] { ++counter; }, [&] { ++counter; });
        if (counter != 2) throw std::runtime_error("lost");
      },
      options);
  EXPECT_TRUE(!result.passed && has(result.failure, "lost"));
}

TEST(RacingSteps, AllInterleavingsOfThem) {
  int highest = 0, lowest = 9;
  duress::CheckResult result = all([&] {
    global = 0;
    auto body = [] {
      ++global;
      ++global;
    };
    together(body, body);
    highest = std::max(highest, global);
    lowest = std::min(lowest, global);
  });
  EXPECT_TRUE(!result.passed && result.complete && has(result.failure, "data race on global"));
  EXPECT_EQ(lowest, 2);
  EXPECT_EQ(highest, 4);
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
  EXPECT_TRUE(has(result.report, "and a data race on *local: "));
}

// ---- none

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

// ---- the search that is not exhaustive

TEST(Search, FindsARaceThatDoesNoHarm) {
  duress::CheckOptions options;
  options.quiet = true;
  options.runs = 50;
  auto closure = [] { together([] { flag = true; }, [] { flag = true; }); };
  duress::CheckResult result = duress::check(closure, options);
  EXPECT_FALSE(result.passed);
  EXPECT_TRUE(has(result.failure, "data race on flag: races_test.cc:"));
  duress::CheckResult again = duress::replay(closure, result.token, options);
  EXPECT_TRUE(again.failure == result.failure);
  options.races = false;
  EXPECT_TRUE(duress::check(closure, options).passed);
}

TEST(Search, HarmIsToldInstead) {
  duress::CheckOptions options;
  options.quiet = true;
  duress::CheckResult result = duress::check(
      [] {
        int counter = 0;
        together([&] { ++counter; }, [&] { ++counter; });
        if (counter != 2) throw std::runtime_error("lost");
      },
      options);
  EXPECT_TRUE(has(result.failure, "lost"));
  EXPECT_TRUE(has(result.report, "and a data race on *counter: "));
}

TEST(Search, PassesWithoutRaces) {
  duress::CheckOptions options;
  options.quiet = true;
  options.runs = 200;
  duress::CheckResult result = duress::check(
      [] {
        std::mutex m;
        int counter = 0;
        auto body = [&] {
          std::lock_guard guard(m);
          ++counter;
        };
        together(body, body);
      },
      options);
  if (!result.passed) printf("%s\n", result.report.c_str());
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(result.executions, 200);
}

}  // namespace

int main(int count, char** suites) {
  return small_test::run(count, suites);
}
