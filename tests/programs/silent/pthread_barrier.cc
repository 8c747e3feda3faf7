// SPDX-License-Identifier: Apache-2.0
//
// pthread_barrier: everything before is ordered before everything after, in every round.
//
// EXPECT-NO-RACE
#include <pthread.h>

constexpr int kThreads = 4, kRounds = 25;
pthread_barrier_t barrier;
int row[kThreads];
int sums[kThreads];
int serial = 0;

void* work(void* argument) {
  long me = reinterpret_cast<long>(argument);
  for (int round = 0; round < kRounds; round++) {
    row[me] = round;
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) serial++;
    for (int value : row) sums[me] += value;
    pthread_barrier_wait(&barrier);
  }
  return nullptr;
}

int main() {
  pthread_barrier_init(&barrier, nullptr, kThreads);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; i++) pthread_create(&threads[i], nullptr, work, reinterpret_cast<void*>(i));
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  pthread_barrier_destroy(&barrier);
  return serial == kRounds && sums[0] == kThreads * kRounds * (kRounds - 1) / 2 ? 0 : 1;
}
