// SPDX-License-Identifier: Apache-2.0
//
// Two threads race after the main thread has left by pthread_exit: names are found all the same.
//
// EXPECT-RACE: shared write-write @one @two
#include <pthread.h>
#include <unistd.h>

#include <cstring>

#include "invisible_barrier.h"

int shared = 0;
int step = 0;
pthread_t main_thread;

static void* first(void*) {
  pthread_join(main_thread, nullptr);
  shared = 1;  // @one
  invisible_signal(&step);
  return nullptr;
}

static void* second(void*) {
  invisible_wait(&step, 1);
  shared = 2;  // @two
  return nullptr;
}

/// Started by a relative name, which means nothing after the next chdir.
static void start_again(const char* name) {
  char path[4096] = {};
  if (readlink("/proc/self/exe", path, sizeof path - 1) <= 0) return;
  char* slash = strrchr(path, '/');
  *slash = 0;
  if (chdir(path) == 0) execl(slash + 1, name, "again", nullptr);
}

int main(int argc, char** argv) {
  if (argc == 1) {
    start_again(argv[0]);
    return 1;
  }
  main_thread = pthread_self();
  if (chdir("/") != 0) return 1;
  pthread_t one, two;
  pthread_create(&one, nullptr, first, nullptr);
  pthread_create(&two, nullptr, second, nullptr);
  pthread_exit(nullptr);
}
