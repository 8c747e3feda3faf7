// SPDX-License-Identifier: Apache-2.0
//
// Detached threads that post a semaphore as the last thing they do.
//
// EXPECT-NO-RACE
#include <semaphore.h>

#include <thread>

sem_t done;
int slots[8];

int main() {
  sem_init(&done, 0, 0);
  for (int i = 0; i < 8; i++)
    std::thread([i] {
      slots[i] = i;
      sem_post(&done);
    }).detach();
  for (int i = 0; i < 8; i++) sem_wait(&done);
  int sum = 0;
  for (int slot : slots) sum += slot;
  return sum == 28 ? 0 : 1;
}
