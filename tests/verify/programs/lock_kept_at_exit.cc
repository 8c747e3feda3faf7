// SPDX-License-Identifier: Apache-2.0
//
// A thread that leaves through pthread_exit keeps its lock. What it has pushed for that is run, and may
// unlock.
//
// EXPECT-VERIFY: * failure lock-kept
// VERIFY-ALSO: -DCLEANUP 1 none
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void unlock(void*) {
  pthread_mutex_unlock(&m);
}

void* work(void*) {
  pthread_mutex_lock(&m);
#ifdef CLEANUP
  pthread_cleanup_push(unlock, nullptr);
#endif
  pthread_exit(nullptr);
#ifdef CLEANUP
  pthread_cleanup_pop(0);
#endif
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  pthread_join(thread, nullptr);
}
