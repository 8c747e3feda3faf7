// SPDX-License-Identifier: Apache-2.0
//
// Relaxed updates of an atomic, of which nobody has released anything at first. Whoever reads a later release through
// one, and then fences, must see what was written before it, whatever the heuristic; and no update may get lost.
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

constexpr int kRounds = 200, kWarm = 50, kThreads = 3, kUpdates = 20'000;

struct Shared {
  int data = 0;
  std::atomic<int> flag{0};
  std::atomic<long> counter{0};
};

/// What the reader found, which must be 1.
int publish_once() {
  auto memory = std::make_unique<Shared>();  // freed, so that the next one has released nothing either
  Shared& shared = *memory;
  int found = -1;
  std::thread reader([&] {
    for (int i = 0; i < kWarm; ++i) shared.flag.fetch_add(2, std::memory_order_relaxed);
    while ((shared.flag.fetch_add(2, std::memory_order_relaxed) & 1) == 0) std::this_thread::yield();
    std::atomic_thread_fence(std::memory_order_acquire);
    found = shared.data;
  });
  std::thread writer([&] {
    for (int i = 0; i < kWarm; ++i) shared.flag.fetch_add(2, std::memory_order_relaxed);
    shared.data = 1;
    shared.flag.fetch_or(1, std::memory_order_release);
  });
  reader.join();
  writer.join();
  return found;
}

/// The same, released by a fence before a relaxed update.
int publish_by_fence() {
  auto memory = std::make_unique<Shared>();  // freed, so that the next one has released nothing either
  Shared& shared = *memory;
  int found = -1;
  std::thread reader([&] {
    for (int i = 0; i < kWarm; ++i) shared.flag.fetch_add(2, std::memory_order_relaxed);
    while ((shared.flag.load(std::memory_order_acquire) & 1) == 0) std::this_thread::yield();
    found = shared.data;
  });
  std::thread writer([&] {
    for (int i = 0; i < kWarm; ++i) shared.flag.fetch_add(2, std::memory_order_relaxed);
    shared.data = 1;
    std::atomic_thread_fence(std::memory_order_release);
    shared.flag.fetch_or(1, std::memory_order_relaxed);
  });
  reader.join();
  writer.join();
  return found;
}

long count() {
  Shared shared;
  std::vector<std::thread> threads;
  for (int id = 0; id < kThreads; ++id)
    threads.emplace_back([&] {
      for (int i = 0; i < kUpdates; ++i) shared.counter.fetch_add(1, std::memory_order_relaxed);
    });
  for (std::thread& thread : threads) thread.join();
  return shared.counter;
}

int main() {
  for (int round = 0; round < kRounds; ++round) {
    if (publish_once() != 1 || publish_by_fence() != 1) {
      std::puts("an old value");
      return 1;
    }
  }
  if (count() != long{kThreads} * kUpdates) {
    std::puts("lost updates");
    return 1;
  }
  return 0;
}
