// SPDX-License-Identifier: Apache-2.0
#include "exec/captured.h"

#include <algorithm>

#include "exec/files.h"

namespace duress::exec {

std::string without_process_ids(std::string_view text) {
  std::string masked;
  masked.reserve(text.size());
  while (!text.empty()) {
    std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(line.size());
    std::size_t end = line.substr(0, 2) == "==" ? line.find_first_not_of("0123456789", 2) : 2;
    if (end != 2 && line.substr(std::min(end, line.size()), 2) == "==") {
      masked += "==PID";
      line.remove_prefix(end);
    }
    masked += line;
  }
  return masked;
}

std::string last_errors(const Captured& captured) {
  constexpr std::size_t kKept = 4096;
  // A mark is at most twice as long as without its number, so twice the bytes are enough.
  std::string text = without_process_ids(read_file(captured.errors, 2 * kKept).value_or(""));
  if (text.size() <= kKept) return text;
  text.erase(0, text.size() - kKept);
  // A line of more than that has no beginning to show.
  if (std::size_t line = text.find('\n'); line + 1 < text.size()) text.erase(0, line + 1);
  return text;
}

}  // namespace duress::exec
