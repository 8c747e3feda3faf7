// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace duress::finding {

/// A function's name without the numbers that compilers give to lambdas: they count over the whole file, so
/// one more lambda elsewhere would change them.
std::string stable_name(const std::string& function);

}  // namespace duress::finding
