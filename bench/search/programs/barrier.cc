// SPDX-License-Identifier: Apache-2.0
//
// A barrier that is used twice. The last one to come resets it; a thread that is late to see it meets the
// next round. With a phase that counts it is right.
//
// BUG barrier_2: -DTHREADS=2
// BUG barrier_4: -DTHREADS=4
// CORRECT barrier_phases: -DTHREADS=3 -DPHASES
#include "parallel.h"

static std::atomic<int> arrived, phase;
static std::atomic<int> done[2];

static void wait() {
#ifdef PHASES
  int now = phase;
#endif
  if (++arrived == THREADS) {
    arrived = 0;
    ++phase;
    return;
  }
#ifdef PHASES
  while (phase == now) std::this_thread::yield();
#else
  while (arrived != 0) std::this_thread::yield();
#endif
}

int main() {
  in_parallel_each(THREADS, [](int) {
    for (int round = 0; round < 2; ++round) {
      ++done[round];
      wait();
      assert(done[round] == THREADS);
    }
  });
}
