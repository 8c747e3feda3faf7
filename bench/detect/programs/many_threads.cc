// SPDX-License-Identifier: Apache-2.0
//
// As many threads as the first argument says, all alive at once, that read a table of `data` numbers, lock
// and count; four times one of them changes the table between two barriers: what vector clocks and sets of
// readers of that size cost. `work` rounds in all.
#include <atomic>
#include <mutex>

#include "../kernel.h"

namespace {
struct alignas(64) Stripe {
  std::mutex mutex;
  uint64_t sum = 0;
};
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 100000, 4096);
  std::vector<uint64_t> table(data);
  for (long i = 0; i < data; i++) table[i] = i * i;
  std::vector<Stripe> stripes(64);
  std::atomic<uint64_t> counter = 0;
  bench::Barrier barrier(threads);
  const long each = work / 4 / threads;
  bench::parallel(threads, [&, data = data](int t) {
    bench::Random random(t + 1);
    for (uint64_t phase = 0; phase < 4; phase++) {
      barrier.wait();
      if (t == 0)
        for (uint64_t& number : table) number += phase;
      barrier.wait();
      for (long i = 0; i < each; i++) {
        const uint64_t dice = random.next() >> 8;
        uint64_t value = 0;
        for (uint64_t n = 0; n < 64; n++) value += table[(dice + n * 61) % data];
        {
          std::lock_guard lock(stripes[dice % 64].mutex);
          stripes[dice % 64].sum += value;
        }
        counter.fetch_add(value, std::memory_order_acq_rel);
      }
    }
  });
  uint64_t checksum = counter;
  for (const Stripe& stripe : stripes) checksum += stripe.sum;
  return bench::finish(checksum);
}
