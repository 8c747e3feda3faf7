// SPDX-License-Identifier: Apache-2.0
//
// Two threads are joined by a loop, after what they leave was added up.
//
// EXPECT-VERIFY: 4 race parts*
// VERIFY-FIX: join threads before join_all_before.cc:
#include <thread>
#include <vector>

int parts[2];

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back([i] { parts[i] = i + 1; });
  int total = parts[0] + parts[1];
  for (auto& t : threads) t.join();
  return total == 7;
}
