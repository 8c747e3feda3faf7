// SPDX-License-Identifier: Apache-2.0
//
// Executions per second of duress::check for a closure with N threads of K atomic operations each.
#include <duress/test.h>
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
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2;
  int operations = argc > 2 ? atoi(argv[2]) : 10;
  duress::CheckOptions options;
  options.runs = argc > 3 ? strtoull(argv[3], nullptr, 10) : 50000;
  double start = now();
  auto result = duress::check(
      [=] {
        std::atomic<int> sum{0};
        std::vector<std::thread> all;
        for (int i = 0; i < threads; ++i) {
          all.emplace_back([&] {
            for (int k = 0; k < operations; ++k) sum.fetch_add(1);
          });
        }
        for (std::thread& t : all) t.join();
        if (sum != threads * operations) abort();
      },
      options);
  printf("%.0f\n", static_cast<double>(result.executions) / (now() - start));
  return result.passed ? 0 : 1;
}
