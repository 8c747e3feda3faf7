// SPDX-License-Identifier: Apache-2.0
//
// One thread frees, another allocates the same block later with no other order between them.
//
// EXPECT-NO-RACE
#include <malloc.h>

#include <cstdlib>
#include <thread>

#include "invisible_barrier.h"

int freed = 0;

int main() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_ARENA_MAX, 1);
  constexpr size_t kSize = 100000;  // too large for per-thread caches: the next taker gets it
  std::thread first([] {
    char* block = static_cast<char*>(std::malloc(kSize));
    for (size_t i = 0; i < kSize; i += 64) block[i] = 1;
    std::free(block);
    invisible_signal(&freed);
  });
  std::thread second([] {
    invisible_wait(&freed, 1);
    char* block = static_cast<char*>(std::malloc(kSize));
    for (size_t i = 0; i < kSize; i += 64) block[i] = 2;
    std::free(block);
  });
  first.join();
  second.join();
  return 0;
}
