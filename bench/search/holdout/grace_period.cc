// SPDX-License-Identifier: Apache-2.0
//
// Readers count themselves in one of two counters, by the current phase; who retires an object changes the
// phase and waits for the old counter. A reader that has read the phase and not counted itself yet is missed
// by the second retirement, which waits for the other counter.
//
// BUG grace_period: -DREADERS=1 -DUPDATES=2
// BUG grace_period_2: -DREADERS=2 -DUPDATES=2
// CORRECT grace_period_once: -DREADERS=1 -DUPDATES=1
#include "../programs/parallel.h"

static std::atomic<int> phase, inside[2], object{0}, retired[3];

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < READERS; ++i) {
    threads.emplace_back([] {
      int mine = phase;
      ++inside[mine];
      int seen = object;
      assert(retired[seen] == 0);
      --inside[mine];
    });
  }
  threads.emplace_back([] {
    for (int update = 0; update < UPDATES; ++update) {
      object = update + 1;
      int old = phase;
      phase = 1 - old;
      while (inside[old] != 0) {
      }
      retired[update] = 1;
    }
  });
  for (std::thread& thread : threads) thread.join();
}
