// SPDX-License-Identifier: Apache-2.0
//
// Merge sort: each thread sorts its part with std::sort, then pairs of parts are merged, level by level,
// by fewer and fewer threads with a barrier between the levels. `work` times over `data` records.
#include <algorithm>

#include "../kernel.h"

namespace {
struct Record {
  uint64_t key;
  long number;
  bool operator<(const Record& other) const { return key < other.key; }
};
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 1, 7000000);
  const long size = data;
  std::vector<Record> records(size), scratch(size);
  bench::Barrier barrier(threads);
  bench::parallel(threads, [&, threads = threads, work = work](int t) {
    bench::Slice mine(size, t, threads);
    for (long round = 0; round < work; round++) {
      bench::Random random(77 + round * threads + t);
      for (long i = mine.begin; i < mine.end; i++) records[i] = {random.next(), i};
      std::sort(records.begin() + mine.begin, records.begin() + mine.end);
      for (int width = 1; width < threads; width *= 2) {
        barrier.wait();
        if (t % (2 * width) == 0 && t + width < threads) {
          long begin = mine.begin, middle = bench::Slice(size, t + width, threads).begin;
          long end = t + 2 * width < threads ? bench::Slice(size, t + 2 * width, threads).begin : size;
          std::merge(records.begin() + begin, records.begin() + middle, records.begin() + middle,
                     records.begin() + end, scratch.begin() + begin);
          std::copy(scratch.begin() + begin, scratch.begin() + end, records.begin() + begin);
        }
      }
      barrier.wait();
    }
  });
  if (!std::is_sorted(records.begin(), records.end())) return 1;
  uint64_t checksum = 0;
  for (const Record& record : records) checksum = checksum * 31 + record.key + record.number;
  return bench::finish(checksum);
}
