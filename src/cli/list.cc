// SPDX-License-Identifier: Apache-2.0
//
// `duress list`: the names that options take.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "catalog/lookup.h"
#include "cli/commands.h"

namespace duress::cli {
namespace {

void print(const catalog::Kind& kind, const char* indent) {
  std::size_t width = 0;
  for (const CatalogEntry& entry : kind.entries) width = std::max(width, std::strlen(entry.name));
  for (const CatalogEntry& entry : kind.entries)
    fmt::print("{}{:<{}}  {}\n", indent, entry.name, width, entry.description);
}

}  // namespace

int list_command(const Arguments& arguments) {
  std::vector<std::string> names;
  for (const catalog::Kind& kind : catalog::kinds()) names.emplace_back(kind.name);
  if (!arguments.empty() && (arguments[0] == "-h" || arguments[0] == "--help")) {
    fmt::print(
        "Usage: duress list [{}]\nThe names that options take, with a line each; without an argument all of "
        "them.\n",
        fmt::join(names, "|"));
    return kExitOk;
  }
  if (arguments.size() > 1)
    return wrong_use("list", fmt::format("one kind at a time, not '{}'", arguments[1]));
  for (const catalog::Kind& kind : catalog::kinds()) {
    if (arguments.empty()) fmt::print("{}:\n", kind.name);
    if (arguments.empty() || arguments[0] == kind.name) print(kind, arguments.empty() ? "  " : "");
  }
  if (arguments.empty() || std::find(names.begin(), names.end(), arguments[0]) != names.end()) return kExitOk;
  return wrong_use("list", fmt::format("nothing to list is called '{}'{} (known: {})", arguments[0],
                                       catalog::nearest_hint(arguments[0], names), fmt::join(names, ", ")));
}

}  // namespace duress::cli
