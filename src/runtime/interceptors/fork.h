// SPDX-License-Identifier: Apache-2.0
//
// What every way to make a copy of the process does around it.
#pragma once

#include "runtime/interceptors/real.h"

namespace duress {

void enter_fork();
void leave_fork(bool child);

}  // namespace duress
