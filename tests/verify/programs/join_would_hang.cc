// SPDX-License-Identifier: Apache-2.0
//
// The thread waits for whoever reads: to join it before would be for ever.
//
// EXPECT-VERIFY: * race x
// VERIFY-FIX: make x atomic
#include <atomic>
#include <thread>

std::atomic<bool> go{false};
int x = 0;

int main() {
  std::thread worker([] {
    x = 1;
    while (!go) std::this_thread::yield();
  });
  int seen = x;
  go = true;
  worker.join();
  return seen == 7;
}
