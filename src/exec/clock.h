// SPDX-License-Identifier: Apache-2.0
//
// The host's clock for durations and deadlines.
#pragma once

#include <chrono>

namespace duress::exec {

/// Seconds, monotonic.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace duress::exec
