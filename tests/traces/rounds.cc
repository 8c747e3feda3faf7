// SPDX-License-Identifier: Apache-2.0
// Six threads that fill their buffers at the same time, again and again, so that rounds are written while
// others wait to write theirs.
#include <thread>
#include <vector>

constexpr int kThreads = 6, kTimes = 1'000'000;
long words[kThreads][64];
int main() {
  std::vector<std::thread> threads;
  for (auto& own : words) {
    threads.emplace_back([&own] {
      for (int i = 0; i < kTimes; ++i) own[i * 29 % 64] = i;
    });
  }
  for (std::thread& thread : threads) thread.join();
}
