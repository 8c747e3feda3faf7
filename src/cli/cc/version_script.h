// SPDX-License-Identifier: Apache-2.0
//
// A library's version script mostly ends in `local: *`, which would hide the hooks in it: it would call its
// own copies that do nothing, never those of the executable, and would not be watched.
#pragma once

#include <string>
#include <vector>

namespace duress::cc {

/// Makes every version script that the arguments name one that leaves the hooks global: a copy in memory,
/// which the linker inherits as a descriptor.
void open_version_scripts(std::vector<std::string>& args);

}  // namespace duress::cc
