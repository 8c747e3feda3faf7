// SPDX-License-Identifier: Apache-2.0
//
// Two threads increment a counter; the sum can be as small as 2, if one is interrupted in its first increment
// until the other stands in its last.
//
// BUG least_sum_3: -DROUNDS=3
// BUG least_sum_5: -DROUNDS=5
// BUG least_sum_10: -DROUNDS=10
// CORRECT least_sum_bound: -DROUNDS=5 -DBOUND
#include "parallel.h"

static std::atomic<int> counter;

int main() {
  in_parallel_each(2, [](int) {
    for (int round = 0; round < ROUNDS; ++round) counter = counter + 1;
  });
#ifdef BOUND
  assert(counter >= 2);
#else
  assert(counter != 2);
#endif
}
