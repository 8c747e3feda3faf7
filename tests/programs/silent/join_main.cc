// SPDX-License-Identifier: Apache-2.0
//
// The main thread leaves by pthread_exit, and another thread joins it.
//
// EXPECT-NO-RACE
#include <pthread.h>

int shared = 0;

static void* join_main(void* main_thread) {
  if (pthread_join(*static_cast<pthread_t*>(main_thread), nullptr) != 0) __builtin_trap();
  ++shared;
  return nullptr;
}

int main() {
  static pthread_t self = pthread_self();
  pthread_t other;
  pthread_create(&other, nullptr, join_main, &self);
  shared = 5;
  pthread_exit(nullptr);
}
