// SPDX-License-Identifier: Apache-2.0
//
// Two stages, each correctly locked: the sum is stored under one lock and its double under another. Between
// the two stages a reader sees the new sum with the old double.
//
// EXPECT-FAILURE: assertion
#include <cassert>
#include <mutex>
#include <thread>

std::mutex sum_lock, double_lock;
int sum = 0, doubled = 0;

void update() {
  {
    std::lock_guard guard(sum_lock);
    sum = 1;
  }
  {
    std::lock_guard guard(double_lock);
    doubled = 2 * sum;
  }
}

void check() {
  int seen_sum, seen_double;
  {
    std::lock_guard guard(sum_lock);
    seen_sum = sum;
  }
  {
    std::lock_guard guard(double_lock);
    seen_double = doubled;
  }
  if (seen_sum != 0) assert(seen_double == 2 * seen_sum);
}

int main() {
  std::thread writer(update);
  std::thread reader(check);
  writer.join();
  reader.join();
}
