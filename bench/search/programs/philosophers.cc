// SPDX-License-Identifier: Apache-2.0
//
// Each takes its left and its right fork; or the lower one first.
//
// BUG philosophers_2: -DSEATS=2
// BUG philosophers_3: -DSEATS=3
// BUG philosophers_5: -DSEATS=5
// CORRECT philosophers_ordered: -DSEATS=4 -DORDERED
#include <utility>

#include "parallel.h"

static std::mutex forks[SEATS];

int main() {
  in_parallel_each(SEATS, [](int i) {
    int left = i, right = (i + 1) % SEATS;
#ifdef ORDERED
    if (left > right) std::swap(left, right);
#endif
    Guard one(forks[left]);
    Guard two(forks[right]);
  });
}
