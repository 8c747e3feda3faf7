// SPDX-License-Identifier: Apache-2.0
//
// One thread remembers an expensive result; the others compute it while they do not see it.
//
// truth: memo slower: who does not see the result computes it again, with the same outcome
#include <mutex>
#include <thread>

std::mutex mutex;
int parameters[4] = {1, 2, 3, 4};
int memo = 0;

int compute() {
  int sum = 0;
  for (int i = 0; i < 16; ++i) {
    std::lock_guard guard(mutex);
    sum += parameters[i % 4];
  }
  return sum;
}

int main() {
  bool right = true;
  std::thread owner([] { memo = compute(); });
  std::thread user([&right] {
    for (int i = 0; i < 24; ++i) {
      int seen = memo;
      if (seen == 0) seen = compute();
      right = right && seen == 40;
    }
  });
  owner.join();
  user.join();
  return right ? 0 : 1;
}
