// SPDX-License-Identifier: Apache-2.0
//
// Calls of C library functions that access the program's memory (library_calls.def): in checked and faithful
// bodies they are calls of the runtime's function of the same purpose, which gets the call's site first. Also
// because LLVM's code generation turns calls such as memcmp(a, b, 8) into loads, which nobody would see.
#pragma once

#include "pass/access.h"
#include "pass/unit.h"

namespace duress::pass {

/// Whether the call is of a function of the table, with an argument that others may access.
bool is_library_call(const llvm::CallBase& call, AccessFilter& filter);
/// Replaces it. `flags` are the site's. The old call is gone afterwards.
void replace_library_call(llvm::CallBase* call, Unit& unit, uint32_t function_index, uint8_t flags);

}  // namespace duress::pass
