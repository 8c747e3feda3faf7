// SPDX-License-Identifier: Apache-2.0
//
// Source lines of return addresses in the executable, from llvm-symbolizer if there is one. The program is
// asked once for an address: a test that replays a token a hundred times does not start it a hundred times.
#pragma once

#include "base/types.h"

namespace duress {

bool in_executable(uptr address);
/// Looks up those that are not known yet, at most kMostLookups, with one call of llvm-symbolizer.
inline constexpr u32 kMostLookups = 2400;
void look_up_lines(const uptr* return_addresses, u32 count);
/// "file:line" of the innermost function that is not of the C++ library; "" if unknown or not looked up.
const char* known_line(uptr return_address);
/// The same; looks it up first.
const char* source_line(uptr return_address);

const char* base_name(const char* path);

}  // namespace duress
