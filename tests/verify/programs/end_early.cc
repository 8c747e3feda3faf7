// SPDX-License-Identifier: Apache-2.0
//
// A thread that reads 0 ends the process while another one is in the middle of its work. The execution in which
// it reads 1 exists all the same, whichever way the process ends in the first.
//
// EXPECT-VERIFY: 2 failure assertion
// VERIFY-ALSO: -DEND=_Exit(0) 2 failure assertion
// VERIFY-ALSO: -DEND=quick_exit(0) 2 failure assertion
// VERIFY-ALSO: -DEND=syscall(SYS_exit_group,0) 2 failure assertion
// VERIFY-ALSO: -DEND=exit(3) 2 failure assertion
// VERIFY-ALSO: -DEND=abort() 2 failure assertion
// VERIFY-ALSO: -DEND=raise(SIGTERM) 2 failure assertion
// VERIFY-ALSO: -DEND=__builtin_trap() 2 failure assertion
// VERIFY-ALSO: -DEND=throw(1) 2 failure assertion
// VERIFY-ALSO: -DEND=*null=1 2 failure assertion
// VERIFY-ALSO: -DEND=pthread_mutex_unlock(&never_locked) 2 failure assertion
// VERIFY-RC11: 2
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#ifndef END
#define END _exit(0)
#endif

std::atomic<int> x{0}, y{0};
int* volatile null = nullptr;
pthread_mutex_t never_locked = PTHREAD_MUTEX_INITIALIZER;

void* ends(void*) {
  if (x == 0) END;
  assert(x == 0);
  return nullptr;
}

void* goes_on(void*) {
  y = 1;
  x = 1;
  return nullptr;
}

int main() {
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, ends, nullptr);
  pthread_create(&threads[1], nullptr, goes_on, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}
