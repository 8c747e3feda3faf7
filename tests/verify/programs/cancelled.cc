// SPDX-License-Identifier: Apache-2.0
//
// Where a cancellation reaches a thread is not explored, and the answer says so.
//
// EXPECT-VERIFY: * none
// VERIFY-BOUND
#include <pthread.h>
#include <unistd.h>

void* work(void*) {
  sleep(1);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  pthread_cancel(thread);
  pthread_join(thread, nullptr);
}
