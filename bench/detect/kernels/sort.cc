// SPDX-License-Identifier: Apache-2.0
//
// Merge sort: each thread sorts its part with std::sort, then pairs of parts are merged, level by level,
// by fewer and fewer threads with a barrier between the levels.
#include <algorithm>

#include "../kernel.h"

int main(int argc, char** argv) {
  auto [threads, size] = bench::arguments(argc, argv, 7000000);
  std::vector<uint32_t> values(size), scratch(size);
  bench::Random random(77);
  for (uint32_t& value : values) value = static_cast<uint32_t>(random.next());
  bench::Barrier barrier(threads);
  bench::parallel(threads, [&, threads = threads, size = size](int t) {
    bench::Slice mine(size, t, threads);
    std::sort(values.begin() + mine.begin, values.begin() + mine.end);
    for (int width = 1; width < threads; width *= 2) {
      barrier.wait();
      if (t % (2 * width) == 0 && t + width < threads) {
        long begin = mine.begin, middle = bench::Slice(size, t + width, threads).begin;
        long end = t + 2 * width < threads ? bench::Slice(size, t + 2 * width, threads).begin : size;
        std::merge(values.begin() + begin, values.begin() + middle, values.begin() + middle,
                   values.begin() + end, scratch.begin() + begin);
        std::copy(scratch.begin() + begin, scratch.begin() + end, values.begin() + begin);
      }
    }
  });
  if (!std::is_sorted(values.begin(), values.end())) return 1;
  uint64_t checksum = 0;
  for (uint32_t value : values) checksum = checksum * 31 + value;
  return bench::finish(checksum);
}
