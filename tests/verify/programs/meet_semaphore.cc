// SPDX-License-Identifier: Apache-2.0
//
// A POSIX semaphore with one unit: two threads go through it in both orders. A third only tries.
//
// EXPECT-VERIFY: * none
// VERIFY-RC11: =
#include <semaphore.h>

#include <thread>

sem_t semaphore;
int counter = 0;

void count() {
  sem_wait(&semaphore);
  ++counter;
  sem_post(&semaphore);
}

int main() {
  sem_init(&semaphore, 0, 1);
  std::thread first(count), second(count);
  if (sem_trywait(&semaphore) == 0) {
    ++counter;
    sem_post(&semaphore);
  }
  first.join();
  second.join();
  return counter == 2 || counter == 3 ? 0 : 1;
}
