// SPDX-License-Identifier: Apache-2.0
//
// Three philosophers, three forks, everybody takes the left one first.
//
// EXPECT-FAILURE: deadlock
#include <mutex>
#include <thread>
#include <vector>

constexpr int kPhilosophers = 3;
std::mutex forks[kPhilosophers];

void dine(int seat) {
  std::lock_guard left(forks[seat]);
  std::lock_guard right(forks[(seat + 1) % kPhilosophers]);
}

int main() {
  std::vector<std::thread> philosophers;
  for (int seat = 0; seat < kPhilosophers; ++seat) philosophers.emplace_back(dine, seat);
  for (std::thread& philosopher : philosophers) philosopher.join();
}
