// SPDX-License-Identifier: Apache-2.0
//
// std::barrier with a completion function, several phases: each thread reads its neighbour's slot.
//
// EXPECT-NO-RACE
#include <barrier>
#include <thread>
#include <vector>

constexpr int kThreads = 3, kPhases = 20;
int now[kThreads], next[kThreads];
int phases = 0;

int main() {
  auto completed = []() noexcept {
    phases++;
    for (int i = 0; i < kThreads; i++) now[i] = next[i];
  };
  std::barrier barrier(kThreads, completed);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++)
    threads.emplace_back([i, &barrier] {
      for (int phase = 0; phase < kPhases; phase++) {
        next[i] = now[(i + 1) % kThreads] + 1;
        barrier.arrive_and_wait();
      }
    });
  for (auto& thread : threads) thread.join();
  return phases == kPhases && now[0] == kPhases ? 0 : 1;
}
