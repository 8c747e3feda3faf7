// SPDX-License-Identifier: Apache-2.0
//
// Random programs on which the explorer must agree with brute force.
#pragma once

#include "base/prng.h"
#include "exhaustive/testing/exploration.h"

namespace duress::exhaustive::testing {

class Generator {
 public:
  explicit Generator(u64 seed) : prng_(seed) {}
  int below(u64 n) { return int(prng_.below(n)); }

  Instruction access(int variables) {
    int a = below(u64(variables));
    switch (below(5)) {
      case 0:
        return {Op::kLoad, a};
      case 1:
        return {Op::kStore, a, below(3)};
      case 2:
        return {Op::kAdd, a, 1};
      default:
        return {Op::kCas, a, below(2), 1 + below(2)};
    }
  }

  /// Two or three threads, each filled by `fill(thread)`.
  template <typename Fill>
  std::vector<std::vector<Instruction>> threads(Fill fill) {
    std::vector<std::vector<Instruction>> all(size_t(2 + below(2)));
    for (auto& thread : all) fill(thread);
    return all;
  }

 private:
  Prng prng_;
};

struct Amount {
  u64 seeds = 400;
  u32 least = 200;    // programs that are compared, at least one more
  u64 budget = 1500;  // programs with more interleavings are not
};

/// The explorer agrees with brute force on the programs that `make(generator)` returns.
template <typename Make>
void expect_matches(const Amount& amount, Make make) {
  u32 checked = 0;
  for (u64 seed = 1; seed <= amount.seeds; ++seed) {
    Generator g(seed);
    checked += matches_brute_force(make(g), seed, amount.budget);
    ASSERT_FALSE(::testing::Test::HasFailure()) << seed;
  }
  EXPECT_GT(checked, amount.least);
}

}  // namespace duress::exhaustive::testing
