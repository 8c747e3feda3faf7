// SPDX-License-Identifier: Apache-2.0
//
// What the programs of bench/search share: threads that start one after the other and are all joined.
#pragma once

#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

/// A thread for each body, in this order.
template <typename... Bodies>
void in_parallel(Bodies... bodies) {
  std::thread threads[] = {std::thread(bodies)...};
  for (std::thread& thread : threads) thread.join();
}

/// `count` threads of body(0), body(1), ...; then main does `also`, before it joins them.
template <typename Body>
void in_parallel_each(int count, Body body, void (*also)() = [] {}) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  also();
  for (std::thread& thread : threads) thread.join();
}

using Guard = std::lock_guard<std::mutex>;
