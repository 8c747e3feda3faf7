// SPDX-License-Identifier: Apache-2.0
//
// Two iterations on two threads: each has its element, or both have the same; what they wrote is read afterwards.
//
// WRONG: *values*
#include <tbb/parallel_for.h>

#include <cstdio>

#include "teamwork.h"

static int values[2];
static std::atomic<int> arrived;

int main() {
  with_two_threads([] {
    tbb::parallel_for(
        0, 2,
        [](int i) {
          meet(arrived);
#ifdef WRONG
          values[0] = i;
#else
          values[i] = i;
#endif
        },
        tbb::simple_partitioner());
  });
  std::printf("%d\n", values[0] + values[1]);
}
