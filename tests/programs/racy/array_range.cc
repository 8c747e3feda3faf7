// SPDX-License-Identifier: Apache-2.0
//
// Overlapping ranges of a global array, written by strided loops that compilers turn into vectors.
//
// EXPECT-RACE: samples[*] write-read
#include <thread>

#include "invisible_barrier.h"

double samples[1024];
int step = 0;

int main() {
  double sum = 0;
  std::thread one([] {
    invisible_start(2);
    for (int i = 0; i < 600; i++) samples[i] = i;
    invisible_signal(&step);
  });
  std::thread two([&sum] {
    invisible_start(2);
    invisible_wait(&step, 1);
    for (int i = 500; i < 1024; i++) sum += samples[i];
  });
  one.join();
  two.join();
  return sum == (500 + 599) * 50 ? 0 : 1;
}
