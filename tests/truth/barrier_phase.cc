// SPDX-License-Identifier: Apache-2.0
//
// Phases with a barrier, and a phase number for display that every thread writes.
//
// truth: phase harmless: all write the same number in the same phase, and only a display reads it
#include <barrier>
#include <thread>

std::barrier meeting(2);
int cells[2];
int sums[2];
int phase = 0;

void run(int self) {
  phase = 1;
  cells[self] = 5;
  meeting.arrive_and_wait();
  phase = 2;
  sums[self] = cells[0] + cells[1];
}

int main() {
  std::thread first(run, 0), second(run, 1);
  int shown = phase;
  first.join();
  second.join();
  return sums[0] == 10 && sums[1] == 10 && shown >= 0 && shown <= 2 ? 0 : 1;
}
