// SPDX-License-Identifier: Apache-2.0
//
// The one hash of names and texts. Ids that users see, names of stored files and trial names are made of it,
// so it must stay the same from version to version.
#pragma once

#include <string_view>

#include "base/prng.h"

namespace duress {

/// FNV-1a over bytes that come in pieces.
class Hasher {
 public:
  constexpr void add(std::string_view bytes) {
    for (char byte : bytes) state_ = (state_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  }
  /// FNV's high bits mix badly on short strings, and ids are cut from the top.
  constexpr u64 value() const { return mix(state_); }

 private:
  u64 state_ = 0xcbf29ce484222325u;
};

constexpr u64 hash_of(std::string_view text) {
  Hasher hasher;
  hasher.add(text);
  return hasher.value();
}

}  // namespace duress
