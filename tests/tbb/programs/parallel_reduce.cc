// SPDX-License-Identifier: Apache-2.0
//
// A sum by a reduction, or into a shared variable.
//
// WRONG: *total*
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <cstdio>
#include <vector>

#include "teamwork.h"

static long total;
static std::atomic<int> arrived;

int main() {
  std::vector<int> values(2, 7);
  with_two_threads([&] {
    long sum = tbb::parallel_reduce(
        tbb::blocked_range<int>(0, 2), 0L,
        [&](const tbb::blocked_range<int>& range, long part) {
          meet(arrived);
          for (int i = range.begin(); i != range.end(); i++) {
#ifdef WRONG
            total += values[i];
#else
            part += values[i];
#endif
          }
          return part;
        },
        [](long a, long b) { return a + b; }, tbb::simple_partitioner());
    total += sum;
  });
  std::printf("%ld\n", total);
}
