// SPDX-License-Identifier: Apache-2.0
//
// A child closes descriptors and makes locks anew that threads of its parent use: they are its own copies.
//
// EXPECT-NO-RACE
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "invisible_barrier.h"

int ends[2];
pthread_mutex_t lock;
int step = 0, done = 0;

int main() {
  if (pipe(ends) != 0) return 1;
  pthread_mutex_init(&lock, nullptr);
  pthread_atfork(nullptr, nullptr, [] { pthread_mutex_init(&lock, nullptr); });
  std::thread user([] {
    char byte = 0;
    if (write(ends[1], &byte, 1) != 1) __builtin_trap();
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    invisible_signal(&step);
    invisible_wait(&done, 1);
  });
  invisible_wait(&step, 1);
  pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    pthread_mutex_destroy(&lock);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  invisible_signal(&done);
  user.join();
  return status;
}
