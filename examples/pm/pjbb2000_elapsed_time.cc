// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, table 1, pjbb2000's Company.elapsed_time: several measurements, one after the other; a
// timer notes how long each took, the main thread reports it. They keep in step by relaxed atomics. An old
// value is that of the measurement before, one from the future that of the next.
//
// pjbb2000_elapsed_time [MEASUREMENTS]; exits with 1 if a report is wrong.
//
// EXPECT-VERDICT: Company::elapsed_time destructive exit:1
// EXPECT-RACE: Company::elapsed_time
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

struct Company {
  long elapsed_time = 0;
  std::atomic<int> started{0}, ended{0};  // measurements
};
Company company;

/// The work of a measurement, in ticks.
long measure(int number) {
  long ticks = 0;
  for (int i = 0; i < 100 * number; ++i) ticks += 40'000'000 + i % 7;
  return ticks;
}

void timer(int measurements) {
  for (int i = 1; i <= measurements; ++i) {
    while (company.started.load(std::memory_order_relaxed) < i) std::this_thread::yield();
    company.elapsed_time = measure(i);
    company.ended.store(i, std::memory_order_relaxed);
  }
}

int main(int count, char** arguments) {
  const int measurements = count > 1 ? std::atoi(arguments[1]) : 3;
  if (measurements < 1) return 2;
  std::thread timing(timer, measurements);
  int wrong = 0;
  for (int i = 1; i <= measurements; ++i) {
    company.started.store(i, std::memory_order_relaxed);
    while (company.ended.load(std::memory_order_relaxed) < i) std::this_thread::yield();
    const long elapsed = company.elapsed_time;
    std::printf("measurement %d: %ld ticks\n", i, elapsed);
    wrong += elapsed != measure(i);
  }
  timing.join();
  return wrong == 0 ? 0 : 1;
}
