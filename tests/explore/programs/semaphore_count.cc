// SPDX-License-Identifier: Apache-2.0
//
// A semaphore as a mutex, but it starts with 2: two threads are inside at once.
//
// EXPECT-FAILURE: assertion
#include <semaphore.h>

#include <atomic>
#include <cassert>
#include <thread>

sem_t permit;
std::atomic<int> inside{0};

void enter() {
  sem_wait(&permit);
  int before = inside++;
  assert(before == 0);
  --inside;
  sem_post(&permit);
}

int main() {
  sem_init(&permit, 0, 2);  // should be 1
  std::thread first(enter), second(enter);
  first.join();
  second.join();
  sem_destroy(&permit);
}
