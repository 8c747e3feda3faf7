// SPDX-License-Identifier: Apache-2.0
//
// main leaves by pthread_exit, the last thread ends the process; threads end in nested calls.
//
// EXPECT-NO-RACE
// OTHER-TOOLS: differ (ThreadSanitizer cannot join the main thread)
#include <pthread.h>

#include <cstdlib>

pthread_t main_thread;
int data = 0;

__attribute__((noinline)) void leave(int depth) {
  if (depth > 0) leave(depth - 1);
  data++;
  pthread_exit(&data);
}

void* ends(void*) {
  leave(3);
  return nullptr;
}

void* last(void*) {
  pthread_join(main_thread, nullptr);
  std::exit(data == 2 ? 0 : 1);
}

int main() {
  main_thread = pthread_self();
  pthread_t thread;
  pthread_create(&thread, nullptr, ends, nullptr);
  void* result = nullptr;
  pthread_join(thread, &result);
  data++;
  pthread_create(&thread, nullptr, last, nullptr);
  pthread_exit(result);
}
