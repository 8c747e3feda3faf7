// SPDX-License-Identifier: Apache-2.0
//
// Every thread installs the handler that is installed.
//
// truth: handler same-value: every store writes the pointer that is there
#include <thread>

int by_default(int code) {
  return code + 1;
}

int (*handler)(int) = by_default;

int main() {
  int results[3] = {};
  std::thread threads[3];
  for (int i = 0; i < 3; ++i) {
    threads[i] = std::thread([&results, i] {
      handler = by_default;
      results[i] = handler(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results[0] == 1 && results[1] == 2 && results[2] == 3 ? 0 : 1;
}
