// SPDX-License-Identifier: Apache-2.0
//
// Memory errors in closures of duress::check: each error is found in random and in exhaustive checks, under
// sc and rc11, with its call stacks; its correct twin is not; and memory that was made before the check is
// never judged wrongly.
#include <duress/test.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Mode {
  const char* name;
  bool exhaustive;
  const char* model;
  bool races;
};
constexpr Mode kModes[] = {{"random", false, "sc", true},        {"random, no races", false, "sc", false},
                           {"exhaustive", true, "sc", true},     {"exhaustive, no races", true, "sc", false},
                           {"random rc11", false, "rc11", true}, {"exhaustive rc11", true, "rc11", true}};

template <typename Closure>
duress::CheckResult run(Closure closure, const Mode& mode) {
  duress::CheckOptions options;
  options.runs = 300;
  options.exhaustive = mode.exhaustive;
  options.model = mode.model;
  options.races = mode.races;
  options.quiet = true;
  return duress::check(closure, options);
}

/// `parts`: what the report must have. Of an access that races with the free an exhaustive check under rc11
/// may tell the race alone: a graph has no order of the two.
template <typename Closure>
void expect_error(Closure closure, const char* what, const std::vector<std::string>& parts = {}) {
  for (const Mode& mode : kModes) {
    duress::CheckResult result = run(closure, mode);
    const bool graphs = mode.exhaustive && std::string(mode.model) == "rc11";
    if (graphs && result.failure.rfind("data race", 0) == 0) continue;
    EXPECT_FALSE(result.passed) << mode.name;
    EXPECT_EQ(result.failure.rfind(what, 0), 0u) << mode.name << ": " << result.failure;
    for (const std::string& part : parts)
      EXPECT_NE(result.report.find(part), std::string::npos) << mode.name << ": " << part << "\n"
                                                             << result.report;
    duress::CheckOptions options;
    options.model = mode.model;
    options.quiet = true;
    duress::CheckResult again = duress::replay(closure, result.token, options);
    EXPECT_EQ(again.failure.rfind(what, 0), 0u) << mode.name << ", replayed: " << again.failure;
  }
}

template <typename Closure>
void expect_none(Closure closure) {
  for (const Mode& mode : kModes) {
    duress::CheckResult result = run(closure, mode);
    EXPECT_TRUE(result.passed) << mode.name << ": " << result.failure << "\n" << result.report;
    if (mode.exhaustive) EXPECT_TRUE(result.complete) << mode.name << ": " << result.bound;
  }
}

/// Not optimised away, and not seen to be wrong by the compiler.
template <typename T>
T* hide(T* p) {
  asm volatile("" : "+r"(p));
  return p;
}

TEST(Memory, UseAfterFree) {
  auto closure = [](bool joins_first) {
    int* value = new int(1);
    std::atomic<int> sum{0};
    std::thread reader([&] { sum += *hide(value); });
    if (joins_first) reader.join();
    sum.fetch_add(1);
    delete value;
    if (!joins_first) reader.join();
  };
  expect_error([&] { closure(false); }, "uses heap memory that was freed: memory_test.cc:82 reads",
               {"reads 4 bytes, 0 bytes into a heap block of 4 bytes",
                "freed by T0\n    #0 memory_test.cc:85", "allocated by T0\n    #0 memory_test.cc:80"});
  expect_none([&] { closure(true); });
}

TEST(Memory, UseAfterFreeInOrder) {
  expect_error(
      [] {
        int* value = hide(new int(1));
        std::thread owner([value] { delete value; });
        owner.join();
        *value = 2;
      },
      "uses heap memory that was freed", {"writes 4 bytes", "freed by T1", "allocated by T0"});
}

TEST(Memory, AtomicsOfFreedMemory) {
  auto closure = [](bool late) {
    auto* count = new std::atomic<int>(2);
    auto release = [=] {
      if (late) {
        if (count->load() == 1) {
          delete count;
        } else {
          count->fetch_sub(1);
        }
      } else if (count->fetch_sub(1) == 1) {
        delete count;
      }
    };
    std::thread other(release);
    release();
    other.join();
  };
  expect_none([&] { closure(false); });
  auto wrong = [] {
    auto* flag = hide(new std::atomic<int>(0));
    std::thread other([=] { flag->store(1); });
    delete flag;
    other.join();
  };
  expect_error(wrong, "uses heap memory that was freed", {"writes atomically 4 bytes", "freed by T0"});
}

TEST(Memory, OutOfBounds) {
  auto closure = [](int count) {
    std::unique_ptr<int[]> values(new int[5]());
    std::thread writer([&] {
      for (int i = 0; i < count; ++i) hide(values.get())[i] = i;
    });
    writer.join();
  };
  expect_error([&] { closure(6); }, "accesses memory outside of a heap block",
               {"0 bytes behind a heap block of 20 bytes", "T1 writes", "allocated by T0"});
  expect_none([&] { closure(5); });
}

TEST(Memory, NeverWritten) {
  auto closure = [](bool writes) {
    int* value = hide(new int);
    std::thread writer([=] {
      if (writes) *value = 3;
    });
    writer.join();
    int more = *value + 1;
    hide(&more);
    delete value;
  };
  expect_error([&] { closure(false); }, "depends on heap memory that was never written", {"allocated by T0"});
  expect_none([&] { closure(true); });
}

TEST(Memory, Frees) {
  expect_error(
      [] {
        int* value = hide(new int(1));
        std::thread owner([value] { delete value; });
        owner.join();
        delete value;
      },
      "frees a heap block that was freed before", {"freed by T1", "allocated by T0"});
  expect_error([] { delete (hide(new int[4]()) + 1); }, "frees what is not the beginning of a heap block");
  expect_error([] { free(hide(new int(1))); }, "frees a heap block in another way than it was allocated");
  expect_error(
      [] {
        int local = 1;
        free(hide(&local));
      },
      "frees what is not the beginning of a heap block");
  expect_none([] {
    std::vector<std::unique_ptr<std::string>> all;
    for (int i = 0; i < 20; ++i) all.push_back(std::make_unique<std::string>(100, 'x'));
    std::thread other([&] { all.pop_back(); });
    other.join();
    void* p = realloc(calloc(3, 7), 100);
    free(p);
  });
}

__attribute__((noinline)) int* frame_of_callee() {
  int local = 7;
  return hide(&local);
}

TEST(Memory, FramesThatAreGone) {
  expect_error(
      [] {
        int* gone = frame_of_callee();
        *gone = 1;
      },
      "uses a local variable of a function that has returned");
  expect_error(
      [] {
        int* gone = nullptr;
        std::thread other([&] {
          int local = 1;
          gone = hide(&local);
        });
        other.join();
        *gone = 2;
      },
      "uses a local variable of a function that has returned");
  expect_none([] {
    int local = 1;
    std::thread other([&] { local = 2; });
    other.join();
    local = 3;
  });
}

pthread_mutex_t global_mutex;
sem_t global_semaphore;

TEST(Memory, Objects) {
  expect_error(
      [] {
        pthread_mutex_init(&global_mutex, nullptr);
        pthread_mutex_destroy(&global_mutex);
        pthread_mutex_lock(&global_mutex);
      },
      "uses a synchronisation object that was destroyed", {"destroyed by T0"});
  expect_error(
      [] {
        pthread_mutex_init(&global_mutex, nullptr);
        pthread_mutex_init(&global_mutex, nullptr);
      },
      "initialises a synchronisation object that was initialised before", {"initialised by T0"});
  expect_error(
      [] {
        pthread_mutex_init(&global_mutex, nullptr);
        pthread_mutex_lock(&global_mutex);
        pthread_mutex_destroy(&global_mutex);
      },
      "destroys a synchronisation object that is in use");
  expect_error(
      [] {
        sem_init(&global_semaphore, 0, 1);
        sem_destroy(&global_semaphore);
        sem_post(&global_semaphore);
      },
      "uses a synchronisation object that was destroyed");
  // Not destroyed at the end: the next execution is another program.
  expect_none([] {
    pthread_mutex_init(&global_mutex, nullptr);
    pthread_mutex_lock(&global_mutex);
    pthread_mutex_unlock(&global_mutex);
  });
}

/// Everything here is made before the check, or outlives an execution.
TEST(Memory, OfTheTestAroundIt) {
  int local = 1;
  std::vector<int> values(10, 1);
  std::unique_ptr<std::string> text = std::make_unique<std::string>(50, 'a');
  auto* unset = new int[8];
  std::mutex mutex;
  std::vector<int> grows;
  expect_none([&] {
    std::thread other([&] {
      std::lock_guard<std::mutex> guard(mutex);
      ++local;
      ++values[9];
      text = std::make_unique<std::string>(50, 'b');  // frees what an earlier execution has allocated
      if (grows.size() < 100) grows.push_back(1);
      unset[7] = unset[6] + 1;
    });
    {
      std::lock_guard<std::mutex> guard(mutex);
      values[0] += local;
      text->append("c");
    }
    other.join();
  });
  delete[] unset;
  grows.clear();
  grows.shrink_to_fit();
}

TEST(Memory, FreedByTheTestAfterwards) {
  std::vector<std::unique_ptr<int>> kept;
  for (int i = 0; i < 3; ++i) {
    duress::CheckOptions options;
    options.runs = 20;
    EXPECT_TRUE(duress::check([&] { kept.push_back(std::make_unique<int>(i)); }, options).passed);
    kept.clear();
  }
  auto freed_inside = std::make_unique<int>(1);
  expect_none([&] { freed_inside.reset(); });
}

TEST(Memory, NotLookedFor) {
  duress::CheckOptions options;
  options.memory_errors = false;
  options.runs = 5;
  auto result = duress::check([] { free(hide(new int(1))); }, options);
  EXPECT_TRUE(result.passed) << result.failure;
}

}  // namespace
