// SPDX-License-Identifier: Apache-2.0
//
// Parts of paths and of output that names and messages use.
#pragma once

#include <string>
#include <string_view>

namespace duress::finding {

/// "queue.h" of "/src/lib/queue.h".
inline std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

/// Without the end of the line.
inline std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace duress::finding
