// SPDX-License-Identifier: Apache-2.0
//
// Time per event: a fixed number of events split over n threads that are all alive at once. An event is a
// plain read or write, and out of each 64 one lock and unlock, and one atomic rmw. What is measured is
// the time from the first thread's first event to the last one's last, and the CPU time between, without
// thread start. `work` events.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>

#include "../kernel.h"

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
  const auto [threads, work, data] = bench::arguments(argc, argv, 1 << 25, 1);
  const long rounds = work / 64 / threads;
  for (int i = 0; i < 4096; i++) table[i] = i;
  bench::Barrier barrier(threads);
  std::vector<long> sums(threads);
  std::vector<double> begins(threads), ends(threads), cpu(threads);
  bench::parallel(threads, [&](int t) {
    bench::Random random(t + 1);
    std::vector<long> own(1024);
    long sum = 0;
    barrier.wait();
    begins[t] = bench::Times::seconds(CLOCK_MONOTONIC);
    cpu[t] = bench::Times::seconds(CLOCK_THREAD_CPUTIME_ID);
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
    cpu[t] = bench::Times::seconds(CLOCK_THREAD_CPUTIME_ID) - cpu[t];
    ends[t] = bench::Times::seconds(CLOCK_MONOTONIC);
    sums[t] = sum;
    barrier.wait();  // until here all are alive
  });
  bench::measured = {
      *std::max_element(ends.begin(), ends.end()) - *std::min_element(begins.begin(), begins.end()),
      std::accumulate(cpu.begin(), cpu.end(), 0.0)};
  return bench::finish(counter);
}
