// SPDX-License-Identifier: Apache-2.0
//
// Hashes of sets of steps. They are sums, so that the hash of a difference of sets is a difference; 128 bits,
// so that two sets with the same one are not met.
#pragma once

#include <cstddef>

#include "base/prng.h"

namespace duress::reads_from {

struct Hash {
  u64 a = 0, b = 0;

  bool operator==(const Hash&) const = default;
  Hash operator+(const Hash& other) const { return {a + other.a, b + other.b}; }
  Hash operator-(const Hash& other) const { return {a - other.a, b - other.b}; }
  /// The hash of a sequence with one more member.
  Hash then(u64 value) const {
    return {mix(a + 0x9e3779b97f4a7c15u + value),
            mix((b ^ value) * 0xda942042e4dd58b5u + 0x2545f4914f6cdd1du)};
  }
};

struct HashOfHash {
  std::size_t operator()(const Hash& hash) const { return hash.a; }
};

}  // namespace duress::reads_from
