// SPDX-License-Identifier: Apache-2.0
//
// Two threads end the process, with different exit codes: either may be the first.
//
// EXPECT-VERIFY: 2 failure exit:1
// VERIFY-ALSO: -DEND=abort() 2 failure signal:SIGABRT
// VERIFY-RC11: 2
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef END
#define END _exit(1)
#endif

void* well(void*) {
  _exit(0);
}

void* badly(void*) {
  END;
  return nullptr;
}

int main() {
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, badly, nullptr);
  pthread_create(&threads[1], nullptr, well, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}
