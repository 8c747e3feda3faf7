// SPDX-License-Identifier: Apache-2.0
//
// The JSON lines that a trace carries beside its events.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace duress::trace {

/// Calls `visit(line)` for each line whose "t" is `type`; what is not JSON is passed over.
template <typename Visit>
void each_json_line(const std::string& text, const char* type, Visit visit) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    auto line = nlohmann::json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                      text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    at = end + 1;
    if (line.is_object() && line.value("t", nlohmann::json()) == type) visit(line);
  }
}

}  // namespace duress::trace
