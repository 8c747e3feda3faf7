// SPDX-License-Identifier: Apache-2.0
//
// Prints where its variables, its heap and its threads' stacks are, random numbers, the time and its
// environment's size; all of it is fixed by the seed. Fails when the second thread is first.
//
// EXPECT-FAILURE: assertion
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cstdio>
#include <random>
#include <thread>

int global = 0;
std::atomic<int> turn{0};

void show(const char* who) {
  int local = 0;
  int* heap = new int(0);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  std::fprintf(stderr, "%s: global %p, heap %p, stack %p, time %lld.%09ld, rand %d, device %u\n", who,
               static_cast<void*>(&global), static_cast<void*>(heap), static_cast<void*>(&local),
               static_cast<long long>(now.tv_sec), now.tv_nsec, rand(), std::random_device()());
  delete heap;
}

int main() {
  show("main");
  std::thread first([] {
    show("first");
    int expected = 0;
    turn.compare_exchange_strong(expected, 1);
  });
  std::thread second([] {
    show("second");
    int expected = 0;
    turn.compare_exchange_strong(expected, 2);
  });
  first.join();
  second.join();
  assert(turn == 1);
}
