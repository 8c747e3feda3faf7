// SPDX-License-Identifier: Apache-2.0
//
// An arena that does not live as long as the process.
#pragma once

#include "base/arena.h"

namespace duress {

/// Returns every block to the kernel at its end. REQUIRES: whatever uses it ends before.
class ScopedArena : public Arena {
 public:
  ScopedArena() = default;
  ~ScopedArena() { release_all(); }
};

}  // namespace duress
