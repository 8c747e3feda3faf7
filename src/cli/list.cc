// SPDX-License-Identifier: Apache-2.0
//
// `duress list`: the names that options take.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cli/catalog.h"
#include "cli/commands.h"

namespace duress::cli {
namespace {

void print(const Catalog& catalog, const char* indent) {
  std::size_t width = 0;
  for (const Named& entry : catalog.entries) width = std::max(width, std::strlen(entry.name));
  for (const Named& entry : catalog.entries)
    fmt::print("{}{:<{}}  {}\n", indent, entry.name, width, entry.summary);
  if (catalog.entries.empty()) fmt::print("{}{}\n", indent, catalog.if_empty);
}

}  // namespace

int list_command(const Arguments& arguments) {
  std::vector<std::string> kinds;
  for (const Catalog& catalog : catalogs()) kinds.emplace_back(catalog.kind);
  if (!arguments.empty() && (arguments[0] == "-h" || arguments[0] == "--help")) {
    fmt::print(
        "Usage: duress list [{}]\nThe names that options take, with a line each; without an argument all of "
        "them.\n",
        fmt::join(kinds, "|"));
    return kExitOk;
  }
  if (arguments.size() > 1)
    return wrong_use("list", fmt::format("one kind at a time, not '{}'", arguments[1]));
  if (arguments.empty()) {
    for (const Catalog& catalog : catalogs()) {
      fmt::print("{}:\n", catalog.kind);
      print(catalog, "  ");
    }
    return kExitOk;
  }
  for (const Catalog& catalog : catalogs()) {
    if (arguments[0] == catalog.kind) {
      print(catalog, "");
      return kExitOk;
    }
  }
  return wrong_use("list", fmt::format("nothing to list is called '{}'{} (known: {})", arguments[0],
                                       nearest_hint(arguments[0], kinds), fmt::join(kinds, ", ")));
}

}  // namespace duress::cli
