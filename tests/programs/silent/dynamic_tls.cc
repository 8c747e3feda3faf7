// SPDX-License-Identifier: Apache-2.0
//
// A detached thread has used thread-local memory of a library that was opened at run time. The C library frees it in the call that
// makes the next thread, whose stack it reuses: no race with the accesses of the thread that has ended.
//
// EXPECT-NO-RACE
// PLUGIN: ../lib/thread_local_array.cc
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

long* (*get_array)();

void* use(void* argument) {
  *get_array() = 42;
  if (argument) *static_cast<int*>(argument) = gettid();
  return nullptr;
}

int main() {
  void* library = dlopen(std::getenv("PLUGIN"), RTLD_NOW);
  if (!library) return 1;
  get_array = reinterpret_cast<long* (*)()>(dlsym(library, "get_array"));
  for (int round = 0; round < 3; ++round) {
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_t id;
    if (pthread_create(&id, &detached, use, nullptr) != 0) return 2;
    // Until only this thread is there; a join would order.
    for (char line[256]; std::strcmp(line, "Threads:\t1\n") != 0;) {
      FILE* status = std::fopen("/proc/self/status", "r");
      while (std::fgets(line, sizeof line, status) && std::strncmp(line, "Threads:", 8) != 0) continue;
      std::fclose(status);
    }
    if (pthread_create(&id, nullptr, use, nullptr) != 0) return 3;
    pthread_join(id, nullptr);
  }
  return 0;
}
