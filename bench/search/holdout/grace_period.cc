// SPDX-License-Identifier: Apache-2.0
//
// Readers count themselves in one of two counters, by the current phase; who retires an object changes the
// phase and waits for the old counter. A reader that has read the phase and not counted itself yet is missed.
//
// BUG grace_period: -DREADERS=1
// BUG grace_period_2: -DREADERS=2
#include "../programs/parallel.h"

static std::atomic<int> phase, inside[2], object{1}, alive[3] = {0, 1, 1};

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < READERS; ++i) {
    threads.emplace_back([] {
      int mine = phase;
      ++inside[mine];
      int seen = object;
      assert(alive[seen] == 1);
      --inside[mine];
    });
  }
  threads.emplace_back([] {
    object = 2;
    int old = phase;
    phase = 1 - old;
    while (inside[old] != 0) {
    }
    alive[1] = 0;
  });
  for (std::thread& thread : threads) thread.join();
}
