// SPDX-License-Identifier: Apache-2.0
//
// std::latch: what comes before count_down is visible after wait.
//
// EXPECT-NO-RACE
#include <latch>
#include <thread>
#include <vector>

int slots[4];
std::latch done(4);

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([i] {
      slots[i] = i + 1;
      done.count_down();
    });
  done.wait();
  int sum = slots[0] + slots[1] + slots[2] + slots[3];
  for (auto& thread : threads) thread.join();
  return sum == 10 ? 0 : 1;
}
