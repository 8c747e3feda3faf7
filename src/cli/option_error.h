// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace duress::cli {

/// What is wrong with an option's value, after the option's name; "": nothing. For errors of parts that do
/// not know which option a file or a folder came from.
inline std::string option_error(const std::string& option, const std::string& error) {
  return error.empty() ? error : option + ": " + error;
}

}  // namespace duress::cli
