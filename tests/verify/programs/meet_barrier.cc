// SPDX-License-Identifier: Apache-2.0
//
// A barrier of two: what each wrote before it, the other one reads after it.
//
// EXPECT-VERIFY: * none
// VERIFY-RC11: =
#include <pthread.h>

#include <thread>

pthread_barrier_t barrier;
int values[2];

int go(int me) {
  values[me] = 1;
  pthread_barrier_wait(&barrier);
  return values[1 - me];
}

int main() {
  pthread_barrier_init(&barrier, nullptr, 2);
  int seen = 0;
  std::thread other([&] { seen = go(1); });
  int here = go(0);
  other.join();
  return seen + here == 2 ? 0 : 1;
}
