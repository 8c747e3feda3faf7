// SPDX-License-Identifier: Apache-2.0
//
// Divides by what was checked a moment ago.
//
// EXPECT-FAILURE: signal:SIGFPE
#include <atomic>
#include <cstdio>
#include <thread>

std::atomic<int> divisor{5};

int main() {
  std::thread clearing([] { divisor = 0; });
  if (divisor != 0) std::printf("%d\n", 50 / divisor);
  clearing.join();
}
