// SPDX-License-Identifier: Apache-2.0
//
// A page is opened by others than the one who made it, and a click on a link must never run anything in it:
// schemes that are code or data are refused here, and the page puts a path into a link percent-encoded only.
#include "cli/editor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/lookup.h"

namespace duress::cli {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kEditors{{
    {"vscode", "vscode://file{file}:{line}:{column}"},
    {"clion", "clion://open?file={file}&line={line}&column={column}"},
    {"none", ""},
}};

/// The part before the colon, in lower case; "" if that is no scheme.
std::string scheme_of(const std::string& link) {
  std::size_t colon = link.find(':');
  if (colon == std::string::npos || colon == 0) return {};
  std::string scheme;
  for (char c : link.substr(0, colon)) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool other = (c >= '0' && c <= '9') || c == '+' || c == '.' || c == '-';
    if (!letter && (scheme.empty() || !other)) return {};
    scheme += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return scheme;
}

}  // namespace

std::string editor_link(const std::string& choice, std::string& error) {
  std::vector<std::string> names;
  for (auto [name, link] : kEditors) {
    if (choice == name) return std::string(link);
    names.emplace_back(name);
  }
  std::string scheme = scheme_of(choice);
  if (scheme.empty()) {
    error = fmt::format("--editor '{}' must be {} or a link with {{file}} and {{line}}{}", choice,
                        fmt::join(names, ", "), catalog::nearest_hint(choice, names));
  } else if (scheme == "javascript" || scheme == "data" || scheme == "vbscript" || scheme == "blob") {
    error = fmt::format("--editor '{}': links of the scheme '{}' are refused, they could run in the page",
                        choice, scheme);
  } else if (choice.find("{file}") == std::string::npos) {
    error = fmt::format("--editor '{}' must have {{file}} where the path belongs", choice);
  } else if (std::any_of(choice.begin(), choice.end(), [](char c) { return c <= ' ' || c > '~'; })) {
    error = "--editor: a link has no spaces, control characters or letters outside ASCII";
  } else {
    return choice;
  }
  return {};
}

}  // namespace duress::cli
