// SPDX-License-Identifier: Apache-2.0
//
// The one random generator: small, seedable, the same everywhere. Everything random in Duress comes
// from `--seed` through it.
#pragma once

#include "base/types.h"

namespace duress {

/// Mixes all bits of x into all bits of the result (the finaliser of splitmix64).
constexpr u64 mix(u64 x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Prng {
 public:
  explicit constexpr Prng(u64 seed) : state_(seed) {}
  constexpr u64 next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  /// Uniform in [0, n); n > 0. The bias of the multiply is below 2^-32 for the n used here.
  constexpr u64 below(u64 n) { return static_cast<u64>((static_cast<u128>(next()) * n) >> 64); }
  constexpr bool chance(u64 numerator, u64 denominator) { return below(denominator) < numerator; }

 private:
  u64 state_;
};

}  // namespace duress
