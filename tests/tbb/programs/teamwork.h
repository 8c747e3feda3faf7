// SPDX-License-Identifier: Apache-2.0
//
// Two threads work, on any machine; and they meet without being ordered, so that both take a part in every run.
#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <thread>

/// Waits until so many have arrived.
inline void meet(std::atomic<int>& arrived, int number = 2) {
  arrived.fetch_add(1, std::memory_order_relaxed);
  while (arrived.load(std::memory_order_relaxed) < number) std::this_thread::yield();
}

template <typename Work>
void with_two_threads(Work work) {
  tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, 2);
  tbb::task_arena arena(2);
  arena.execute(work);
}
