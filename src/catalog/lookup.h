// SPDX-License-Identifier: Apache-2.0
//
// The tables as the command line needs them: all of them for `duress list`, checks of names that a user
// typed, and suggestions for those that no table has. For the host only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/heuristics.h"
#include "catalog/models.h"
#include "catalog/table.h"

namespace duress::catalog {

struct Kind {
  const char* name;  // plural, as in `duress list analyses`
  std::vector<CatalogEntry> entries;
};

/// Every table, in the order of `duress list`.
const std::vector<Kind>& kinds();

/// The names of the table of Id.
template <class Id>
std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const CatalogEntry& entry : Catalog<Id>::kEntries) result.emplace_back(entry.name);
  return result;
}

/// The names of `known` that are close to `wrong`, best first, at most three.
std::vector<std::string> nearest(const std::string& wrong, const std::vector<std::string>& known);

/// "; nearest: A, B" or "".
std::string nearest_hint(const std::string& wrong, const std::vector<std::string>& known);

/// "no WHAT is named 'WRONG'; nearest: A (known: A, B)".
std::string unknown_name(const std::string& what, const std::string& wrong,
                         const std::vector<std::string>& known);

/// "" if `chain` (A:B:C) names only known analyses, else what is wrong with it.
std::string check_chain(const std::string& chain);

/// Translates a model that schedules are searched with, sc or rc11, and a heuristic ("": none). "" or what is
/// wrong.
std::string check_model(const std::string& model, const std::string& heuristic, ModelId& id,
                        std::optional<HeuristicId>& chosen);

}  // namespace duress::catalog
