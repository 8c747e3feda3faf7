// SPDX-License-Identifier: Apache-2.0
//
// The standard library's parallel algorithms, which libstdc++ has on top of oneTBB.
//
// WRONG: *total*
#include <algorithm>
#include <cstdio>
#include <execution>
#include <functional>
#include <numeric>
#include <vector>

#include "teamwork.h"

static long total;
static std::atomic<int> arrived;

int main() {
  std::vector<int> values(4000);
  std::iota(values.begin(), values.end(), 0);
  with_two_threads([&] {
    std::for_each(std::execution::par, values.begin(), values.end(), [&](int& value) {
      if (&value == &values.front() || &value == &values.back()) meet(arrived);
#ifdef WRONG
      total += value;
#else
      value++;
#endif
    });
    std::sort(std::execution::par, values.begin(), values.end(), std::greater<int>());
    total += std::reduce(std::execution::par, values.begin(), values.end(), 0L);
  });
  std::printf("%ld\n", total);
}
