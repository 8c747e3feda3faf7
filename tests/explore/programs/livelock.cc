// SPDX-License-Identifier: Apache-2.0
//
// "After you": each says that it wants to go, and waits while the other wants to. If both have said so, both
// wait for ever, and both go on running.
//
// EXPECT-FAILURE: no-end
// OPTIONS: --max-steps 100000
// REPLAYS: 3
#include <sched.h>

#include <atomic>
#include <thread>

std::atomic<bool> wants[2] = {false, false};

void pass_door(int me) {
  wants[me] = true;
  while (wants[1 - me]) sched_yield();
  wants[me] = false;
}

int main() {
  std::thread other([] { pass_door(1); });
  pass_door(0);
  other.join();
}
