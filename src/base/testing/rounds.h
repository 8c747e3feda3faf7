// SPDX-License-Identifier: Apache-2.0
//
// How often a property test tries: a share of it in the fast suite, all of it in the slow one, which runs the
// same tests with DURESS_TEST_ALL set (see duress_test in cmake/DuressTargets.cmake).
#pragma once

#include <stdlib.h>

#include "base/types.h"

namespace duress {

inline u64 rounds(u64 all) {
  constexpr u64 kShare = 8;
  return getenv("DURESS_TEST_ALL") ? all : all / kShare;
}

}  // namespace duress
