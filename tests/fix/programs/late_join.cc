// SPDX-License-Identifier: Apache-2.0
//
// The result is read before its thread is joined.
//
// FIX: join worker before
#include <cstdio>
#include <thread>

int main() {
  int result = 0;
  std::thread worker([&] { result = 42; });
  int seen = result;
  std::printf("%d\n", seen);
  worker.join();
  return seen == 42 ? 0 : 1;
}
