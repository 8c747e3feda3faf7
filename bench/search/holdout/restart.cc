// SPDX-License-Identifier: Apache-2.0
//
// A service is stopped and started again while its worker looks at the flag between two jobs: the old worker
// does not notice that it was stopped, and two work at once.
//
// BUG restart: -DJOBS=3
#include "../programs/parallel.h"

static std::atomic<int> running{1}, workers, most;

static void work() {
  int now = ++workers;
  if (now > most) most = now;
  for (int job = 0; job < JOBS && running; ++job) {
  }
  --workers;
}

int main() {
  in_parallel([] { work(); },
              [] {
                running = 0;
                int left = workers;
                running = 1;
                if (left == 0 && workers == 0) return;
                work();
              });
  assert(most < 2);
}
