// SPDX-License-Identifier: Apache-2.0
//
// thread_local objects are destroyed by their own thread, before join returns.
//
// EXPECT-NO-RACE
#include <thread>
#include <vector>

int results[4];

struct Flusher {
  int count = 0;
  int* where = nullptr;
  ~Flusher() {
    if (where != nullptr) *where = count;
  }
};
thread_local Flusher flusher;
thread_local std::vector<int> scratch;

int main() {
  for (int round = 0; round < 5; round++) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
      threads.emplace_back([t] {
        flusher.where = &results[t];
        for (int i = 0; i < 50; i++) {
          scratch.push_back(i);
          flusher.count++;
        }
      });
    for (auto& thread : threads) thread.join();
    for (int& result : results) {
      if (result != 50) return 1;
      result = 0;
    }
  }
  return 0;
}
