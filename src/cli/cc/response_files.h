// SPDX-License-Identifier: Apache-2.0
//
// Arguments of a compiler may be in files: "@file".
#pragma once

#include <string>
#include <vector>

namespace duress::cc {

/// The arguments with those of each "@file" in its place, as the compiler sees them. A file that cannot be
/// read stays the argument that it is.
std::vector<std::string> with_response_files(const std::vector<std::string>& args);

}  // namespace duress::cc
