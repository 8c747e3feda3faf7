// SPDX-License-Identifier: Apache-2.0
//
// Two threads that add to a counter under a mutex: what a small program with threads needs of memory.
#include <cstdio>
#include <mutex>
#include <thread>

namespace {
std::mutex mutex;
long total;

void add() {
  for (int i = 0; i < 10000; i++) {
    std::scoped_lock lock(mutex);
    total++;
  }
}
}  // namespace

int main() {
  std::thread a(add), b(add);
  a.join();
  b.join();
  std::printf("%ld\n", total);
}
