// SPDX-License-Identifier: Apache-2.0
//
// How many interleavings a closure has, by duress::check.
#pragma once

#include <duress/test.h>
#include <semaphore.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "small_test.h"

// One type for all closures: each of its own would have a thread, a vector and a check of its own to compile.
using Body = std::function<void()>;

inline duress::CheckResult all(const Body& closure, duress::CheckOptions options = {}) {
  options.exhaustive = options.quiet = true;
  return duress::check(closure, options);
}

/// How many interleavings there are; 0 if not all were seen or one failed.
inline std::uint64_t count(const Body& closure) {
  duress::CheckResult result = all(closure);
  if (!result.passed) printf("%s\n", result.report.c_str());
  if (!result.complete) printf("%s\n", result.bound.c_str());
  EXPECT_TRUE(result.passed);
  EXPECT_TRUE(result.complete);
  return result.complete ? result.executions : 0;
}

inline void run_together(const Body* bodies, int count) {
  std::unique_ptr<std::thread[]> threads(new std::thread[count]);
  for (int i = 0; i < count; ++i) threads[i] = std::thread([bodies, i] { bodies[i](); });
  for (int i = 0; i < count; ++i) threads[i].join();
}

template <typename... Bodies>
void together(Bodies&&... bodies) {
  const Body list[] = {Body(std::ref(bodies))...};
  run_together(list, sizeof...(bodies));
}

/// Three threads, each once in a section of one mutex.
inline void sections_of_three() {
  std::mutex m;
  int shared = 0;
  auto body = [&] {
    std::lock_guard guard(m);
    ++shared;
  };
  together(body, body, body);
  EXPECT_EQ(shared, 3);
}

/// One thread writes and posts, the other waits and reads.
inline void ordered_by_a_semaphore() {
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
}

/// A wait in a loop, or with nothing but an if around it.
inline void wait_for_it(bool loops) {
  std::mutex m;
  std::condition_variable changed;
  bool ready = false, early = false;
  together(
      [&] {
        std::lock_guard guard(m);
        ready = true;
        changed.notify_one();
      },
      [&] {
        std::unique_lock guard(m);
        for (bool first = true; !ready && (loops || first); first = false) changed.wait(guard);
        early = !ready;
      });
  if (early) throw std::runtime_error("woke up too early");
}
