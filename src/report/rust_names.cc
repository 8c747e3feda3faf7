// SPDX-License-Identifier: Apache-2.0
//
// rustc's older mangling (the default before 1.90, and Debian's) looks like C++'s, with a hash as the last
// part and what C++ does not allow in names written as $LT$, $u7b$ and "..". The hash changes with every
// build, so it may not be in a name that an id is made of.
#include "report/rust_names.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace duress::report {
namespace {

constexpr std::size_t kHash = 16;  // digits
constexpr std::pair<std::string_view, char> kWords[] = {{"LT", '<'}, {"GT", '>'}, {"RF", '&'}, {"BP", '*'},
                                                        {"C", ','},  {"LP", '('}, {"RP", ')'}, {"SP", '@'}};

/// "main::h50ecd1b5199f5ed0" → how long it is without the hash; npos: it has none.
std::size_t without_hash(std::string_view name) {
  constexpr std::string_view kMark = "::h";
  if (name.size() < kMark.size() + kHash) return std::string_view::npos;
  std::size_t at = name.size() - kMark.size() - kHash;
  if (name.substr(at, kMark.size()) != kMark) return std::string_view::npos;
  std::string_view digits = name.substr(at + kMark.size());
  bool hash =
      std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
  return hash ? at : std::string_view::npos;
}

/// What `word` between two dollars stands for; 0: nothing known.
char meaning(std::string_view word) {
  for (const auto& [name, letter] : kWords) {
    if (word == name) return letter;
  }
  if (word.size() < 3 || word[0] != 'u') return 0;
  unsigned long code = std::strtoul(std::string(word.substr(1)).c_str(), nullptr, 16);
  return code >= ' ' && code < 127 ? static_cast<char>(code) : '\0';
}

}  // namespace

std::string rust_name(const std::string& demangled) {
  std::string_view name = demangled;
  if (std::size_t suffix = name.find(" (.llvm."); suffix != std::string_view::npos)
    name = name.substr(0, suffix);
  if (std::size_t suffix = name.find(".llvm."); suffix != std::string_view::npos)
    name = name.substr(0, suffix);
  std::size_t end = without_hash(name);
  if (end == std::string_view::npos) return demangled;
  name = name.substr(0, end);
  std::string text;
  for (std::size_t i = 0; i < name.size();) {
    bool first = i == 0 || (i > 1 && name[i - 1] == ':');
    if (first && name.substr(i, 2) == "_$") ++i;  // a name may not begin with a dollar
    std::size_t close = name[i] == '$' ? name.find('$', i + 1) : std::string_view::npos;
    char letter = close == std::string_view::npos ? '\0' : meaning(name.substr(i + 1, close - i - 1));
    if (letter != 0) {
      text += letter;
      i = close + 1;
    } else if (name.substr(i, 2) == "..") {
      text += "::";
      i += 2;
    } else {
      text += name[i++];
    }
  }
  return text;
}

}  // namespace duress::report
