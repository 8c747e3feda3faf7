// SPDX-License-Identifier: Apache-2.0
//
// A thread that nobody waits for.
//
// FIX: join
#include <thread>

static int result = 0;

static void work() {
  result = 42;
}

int main() {
  std::thread worker(work);
  worker.detach();
  return result == 42 ? 0 : 1;
}
