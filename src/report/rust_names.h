// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace duress::report {

/// A name that rustc's older mangling leaves after C++'s demangling, as its author wrote it:
/// "cell::main::_$u7b$$u7b$closure$u7d$$u7d$::h50ecd1b5199f5ed0" → "cell::main::{{closure}}". Other names
/// stay as they are.
std::string rust_name(const std::string& demangled);

}  // namespace duress::report
