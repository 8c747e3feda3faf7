// SPDX-License-Identifier: Apache-2.0
//
// Two resources of which each thread needs both, taken one by one from a counting semaphore.
//
// BUG semaphore_each: -DTHREADS=2
// BUG semaphore_each_4: -DTHREADS=4
// CORRECT semaphore_enough: -DTHREADS=2 -DMORE=1
#include <semaphore>

#include "parallel.h"

#ifndef MORE
#define MORE 0
#endif

static std::counting_semaphore<8> resources(THREADS + MORE);

int main() {
  in_parallel_each(THREADS, [](int) {
    for (int round = 0; round < 2; ++round) {
      resources.acquire();
      resources.acquire();
      resources.release(2);
    }
  });
}
