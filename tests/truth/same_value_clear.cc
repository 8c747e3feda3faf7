// SPDX-License-Identifier: Apache-2.0
//
// Two threads clear a buffer that is clear.
//
// truth: buffer|buffer[] same-value: zeros over zeros
#include <thread>

int buffer[4];

int clear_and_sum() {
  int sum = 0;
  for (int& cell : buffer) cell = 0;
  for (int cell : buffer) sum += cell;
  return sum;
}

int main() {
  int sums[2] = {-1, -1};
  std::thread first([&sums] { sums[0] = clear_and_sum(); });
  std::thread second([&sums] { sums[1] = clear_and_sum(); });
  first.join();
  second.join();
  return sums[0] == 0 && sums[1] == 0 ? 0 : 1;
}
