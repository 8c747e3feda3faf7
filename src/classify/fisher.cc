// SPDX-License-Identifier: Apache-2.0
#include "classify/fisher.h"

#include <algorithm>
#include <cmath>

namespace duress::classify {
namespace {

/// The logarithm of n over k.
double log_choose(u64 n, u64 k) {
  auto log_factorial = [](u64 x) { return std::lgamma(static_cast<double>(x) + 1); };
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

}  // namespace

double fisher(const Share& higher, const Share& lower) {
  if (higher.runs == 0 || lower.runs == 0) return 1;
  // All failures, dealt out to the runs at random: how often do so many or more fall on the first group?
  const u64 failed = higher.failed + lower.failed, runs = higher.runs + lower.runs;
  const double all = log_choose(runs, failed);
  double chance = 0;
  for (u64 first = higher.failed; first <= std::min(failed, higher.runs); ++first)
    chance += std::exp(log_choose(higher.runs, first) + log_choose(lower.runs, failed - first) - all);
  return std::min(chance, 1.0);
}

}  // namespace duress::classify
