// SPDX-License-Identifier: Apache-2.0
//
// What the programs share: their number, and threads that are made one after the other and joined.
#pragma once

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

/// The first argument, which says how large the program is.
inline int number(int argc, char** argv, int otherwise) {
  return argc > 1 ? atoi(argv[1]) : otherwise;
}

/// Runs body(0) to body(count - 1), each in a thread of its own.
template <typename Body>
void together(int count, Body body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}
