// SPDX-License-Identifier: Apache-2.0
//
// Time per event: a fixed number of events split over n threads that are all alive at once. An event is a
// plain read or write, and out of each 64 one lock and unlock, and one atomic rmw. Not a kernel: run.py
// uses it for the second table. Prints nanoseconds per event, measured inside, without thread start.
#include <atomic>
#include <chrono>
#include <mutex>

#include "kernel.h"

namespace {
struct alignas(64) Stripe {
  std::mutex mutex;
  long plain[64] = {};
};
constexpr int kStripes = 64;
Stripe stripes[kStripes];
std::atomic<long> counter = 0;
int table[4096];  // read by all
}  // namespace

int main(int argc, char** argv) {
  auto [threads, size] = bench::arguments(argc, argv, 1 << 25);
  const long rounds = size / 64 / threads;
  for (int i = 0; i < 4096; i++) table[i] = i;
  bench::Barrier barrier(threads + 1);
  std::vector<long> sums(threads);
  std::chrono::steady_clock::time_point begin, end;
  std::thread clock([&] {
    barrier.wait();
    begin = std::chrono::steady_clock::now();
    barrier.wait();
    end = std::chrono::steady_clock::now();
  });
  bench::parallel(threads, [&](int t) {
    bench::Random random(t + 1);
    std::vector<long> own(1024);
    long sum = 0;
    barrier.wait();
    for (long round = 0; round < rounds; round++) {
      uint64_t dice = random.next();
      Stripe& stripe = stripes[dice % kStripes];
      {
        std::lock_guard lock(stripe.mutex);
        for (int i = 0; i < 10; i++) stripe.plain[(dice >> 8) + i & 63]++;
      }
      for (int i = 0; i < 10; i++) own[(dice >> 16) + i * 37 & 1023] += sum;
      for (int i = 0; i < 21; i++) sum += table[(dice >> 24) + i * 61 & 4095];
      counter.fetch_add(1, std::memory_order_acq_rel);
    }
    sums[t] = sum;
    barrier.wait();
  });
  clock.join();
  double seconds = std::chrono::duration<double>(end - begin).count();
  std::printf("ns/event %.2f\n", seconds * 1e9 / (rounds * 64.0 * threads));
  long total = counter;
  return total == rounds * threads ? 0 : 1;
}
