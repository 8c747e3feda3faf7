// SPDX-License-Identifier: Apache-2.0
//
// fork while another thread holds and uses a lock of its own; the child goes on alone and allocates.
//
// EXPECT-NO-RACE
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

std::mutex mutex;
int data = 0;
std::atomic<bool> stop = false;

int main() {
  std::thread busy([] {
    while (!stop) {
      std::lock_guard lock(mutex);
      data++;
      free(malloc(100));
    }
  });
  int failures = 0;
  for (int i = 0; i < 5; i++) {
    pid_t child = fork();
    if (child == 0) {
      int* block = new int[1000];
      for (int n = 0; n < 1000; n++) block[n] = n;
      int right = block[999] == 999;
      delete[] block;
      _exit(right ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    failures += status != 0;
  }
  stop = true;
  busy.join();
  return failures;
}
