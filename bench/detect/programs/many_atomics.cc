// SPDX-License-Identifier: Apache-2.0
//
// `data` distinct atomics, each of which every thread changes and reads, `work` times over: what the state of
// an atomic costs.
#include <atomic>

#include "../kernel.h"

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 1, 1000000);
  std::vector<std::atomic<uint64_t>> atomics(data);
  std::vector<uint64_t> sums(threads);
  bench::parallel(threads, [&, threads = threads, work = work, data = data](int t) {
    const long begin = bench::Slice(data, t, threads).begin;
    for (long i = 0; i < work * data; i++) {
      std::atomic<uint64_t>& place = atomics[(begin + i) % data];
      place.fetch_add(i % 7 + 1, std::memory_order_acq_rel);
      sums[t] += place.load(std::memory_order_acquire) > 0;
    }
  });
  uint64_t checksum = 0;
  for (uint64_t sum : sums) checksum = checksum * 31 + sum;
  for (const auto& place : atomics) checksum += place.load();
  return bench::finish(checksum);
}
