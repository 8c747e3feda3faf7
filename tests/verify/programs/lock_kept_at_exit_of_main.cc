// SPDX-License-Identifier: Apache-2.0
//
// The same of the main thread, and the lock is the C++ library's: the user's line is named.
//
// EXPECT-VERIFY: 1 failure lock-kept
#include <pthread.h>

#include <mutex>
#include <thread>

std::mutex m;

int main() {
  std::thread([] {}).join();
  m.lock();
  pthread_exit(nullptr);
}
