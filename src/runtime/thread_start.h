// SPDX-License-Identifier: Apache-2.0
//
// What a thread is started with, to tell which threads are alike (trail::Request::symmetry).
#pragma once

#include "base/types.h"

namespace duress {

/// Equal for threads with the same function and the same argument. std::thread gives its function a block
/// that belongs to the new thread alone: then for threads whose blocks hold the same. 0: it cannot be
/// compared.
u64 thread_start_key(const void* function, void* argument);

}  // namespace duress
