// SPDX-License-Identifier: Apache-2.0
//
// A signal handler touches the interrupted thread's data; a timer-like thread sends the signals.
//
// EXPECT-NO-RACE
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <thread>

std::atomic<int> handled = 0;
volatile sig_atomic_t mine = 0;
int plain = 0;

void handler(int) {
  mine = mine + 1;
  handled++;
}

int main() {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigaction(SIGUSR1, &action, nullptr);
  pthread_t target = pthread_self();
  std::thread sender([target] {
    for (int i = 0; i < 20; i++) {
      pthread_kill(target, SIGUSR1);
      while (handled.load() <= i) std::this_thread::yield();
    }
  });
  while (handled.load() < 20) plain++;
  sender.join();
  return mine == 20 ? 0 : 1;
}
