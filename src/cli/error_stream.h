// SPDX-License-Identifier: Apache-2.0
//
// Text for standard error. fmt::print throws if nobody can read it any more; a result does not become an
// error because of that.
#pragma once

#include <cstdio>
#include <string_view>

namespace duress::cli {

inline void write_errors(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace duress::cli
