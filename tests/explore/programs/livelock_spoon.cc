// SPDX-License-Identifier: Apache-2.0
//
// A couple with one spoon. Whoever has it hands it over if the other is hungry, too: once both are hungry the
// spoon goes to and fro for ever. Unlike in livelock.cc, memory changes all the time.
//
// EXPECT-FAILURE: no-end
// OPTIONS: --max-steps 100000
#include <atomic>
#include <thread>

std::atomic<int> spoon{0};
std::atomic<bool> hungry[2] = {false, false};

void dine(int me) {
  hungry[me] = true;
  while (hungry[me]) {
    if (spoon != me) {
      if (hungry[1 - me]) continue;  // it will be handed over
      spoon = me;
    }
    if (hungry[1 - me])
      spoon = 1 - me;
    else
      hungry[me] = false;  // eats
  }
}

int main() {
  std::thread other([] { dine(1); });
  dine(0);
  other.join();
}
