// SPDX-License-Identifier: Apache-2.0
//
// N threads, each K atomic operations: under round-robin with quantum 1 every one is a switch. Prints the
// time of the loops in real nanoseconds: the clock that the program would see is virtual.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static double now() {
  timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2;
  long operations = argc > 2 ? atol(argv[2]) : 100000;
  std::atomic<long> sum{0};
  std::vector<std::thread> all;
  double start = now();
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      for (long k = 0; k < operations; ++k) sum.fetch_add(1, std::memory_order_relaxed);
    });
  }
  for (std::thread& t : all) t.join();
  printf("%.0f\n", now() - start);
  return sum == threads * operations ? 0 : 1;
}
