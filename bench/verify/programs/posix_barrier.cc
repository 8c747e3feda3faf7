// SPDX-License-Identifier: Apache-2.0
//
// N threads meet at a barrier of POSIX.
//
// EXECUTIONS: sc 2: 2, 3: 6, 4: 24
// EXECUTIONS: rf 2: 2, 3: 6, 4: 24
// EXECUTIONS: symmetry 2: 1, 4: 1
// SOURCE: N!: who comes when; symmetry: nobody can tell
#include <pthread.h>

#include "threads.h"

pthread_barrier_t barrier;

int main(int argc, char** argv) {
  const int n = number(argc, argv, 2);
  pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(n));
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([] { pthread_barrier_wait(&barrier); });
  for (std::thread& thread : threads) thread.join();
}
