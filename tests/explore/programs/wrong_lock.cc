// SPDX-License-Identifier: Apache-2.0
//
// Everybody takes a lock, but not the same one.
//
// EXPECT-FAILURE: assertion
#include <cassert>
#include <mutex>
#include <thread>

std::mutex data_lock, log_lock;
int data = 0;

void add(std::mutex& lock) {
  std::lock_guard guard(lock);
  int seen = data;
  data = seen + 1;
}

int main() {
  std::thread right([] { add(data_lock); });
  std::thread wrong([] { add(log_lock); });
  right.join();
  wrong.join();
  assert(data == 2);
}
