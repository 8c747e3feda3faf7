// SPDX-License-Identifier: Apache-2.0
#include <regex>

#include "repair/source_edit.h"

namespace duress::repair {
namespace {

struct Place {
  std::size_t line = 0, column = 0;  // both from 0
};

/// A memory order that is spelled out.
struct Spelled {
  Place at;
  std::size_t length = 0;
  std::string prefix;
};

/// Those among the arguments of the call whose name is at `at` or behind it, not those of calls inside. None
/// at all if the call is not understood.
std::vector<Spelled> orders_of_call(const Lines& lines, Place at) {
  static const std::regex pattern(
      R"(^((?:std::)?memory_order(?:_|::)|__ATOMIC_)(relaxed|consume|acquire|release|acq_rel|seq_cst|RELAXED|CONSUME|ACQUIRE|RELEASE|ACQ_REL|SEQ_CST)\b)");
  std::vector<Spelled> found;
  int depth = 0;
  bool in_word = false;
  for (; at.line < lines.size(); ++at.line, at.column = 0) {
    const std::string& line = lines[at.line];
    for (; at.column < line.size(); ++at.column) {
      char c = line[at.column];
      if (c == '"' || c == '\'' || line.compare(at.column, 2, "//") == 0 ||
          line.compare(at.column, 2, "/*") == 0 || (depth == 0 && c == ';'))
        return {};
      if (c == '(') ++depth;
      if (c == ')' && --depth == 0) return found;
      bool word = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':';
      std::smatch match;
      if (depth == 1 && word && !in_word &&
          std::regex_search(line.begin() + static_cast<std::ptrdiff_t>(at.column), line.end(), match,
                            pattern))
        found.push_back({at, static_cast<std::size_t>(match.length()), match[1].str()});
      in_word = word;
    }
    in_word = false;
  }
  return {};
}

std::string spelled(const std::string& prefix, std::string order) {
  if (prefix == "__ATOMIC_") {
    for (char& c : order) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return prefix + order;
}

}  // namespace

bool change_order(FileEdit& edit, std::size_t line, std::size_t column, const std::string& order,
                  const std::string& failing) {
  if (line < 1 || line > edit.after.size() || column < 1) return false;
  std::vector<Spelled> orders = orders_of_call(edit.after, {line - 1, column - 1});
  if (orders.empty() || orders.size() > (failing.empty() ? 1u : 2u)) return false;
  for (std::size_t i = orders.size(); i-- > 0;) {
    const Spelled& one = orders[i];
    edit.after[one.at.line].replace(one.at.column, one.length, spelled(one.prefix, i == 0 ? order : failing));
  }
  return true;
}

}  // namespace duress::repair
