// SPDX-License-Identifier: Apache-2.0
//
// Two threads take turns by chance: each step counts only if the other's last one came just before. All steps
// in order fail.
//
// BUG relay_3: -DSTEPS=3
// BUG relay_5: -DSTEPS=5
// BUG relay_8: -DSTEPS=8
#include "parallel.h"

static std::mutex mutex;
static int state;

static void step(int from) {
  Guard guard(mutex);
  if (state == from) ++state;
}

int main() {
  in_parallel_each(2, [](int me) {
    for (int i = me; i < STEPS; i += 2) step(i);
  });
  assert(state != STEPS);
}
