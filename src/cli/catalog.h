// SPDX-License-Identifier: Apache-2.0
//
// The names that may be given on the command line, with a line each: one table per kind. Help, `duress
// list` and the check of `-t CHAIN` all come from here.
#ifndef DURESS_CLI_CATALOG_H_
#define DURESS_CLI_CATALOG_H_

#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "event/memory_models.h"

namespace duress::cli {

struct Named {
  const char* name;
  const char* summary;
};

struct Catalog {
  const char* kind;  // plural, as in `duress list analyses`
  std::vector<Named> entries;
  const char* if_empty;
};

const std::vector<Catalog>& catalogs();
const std::vector<Named>& analyses();

/// The names of `known` that `wrong` was probably meant to be, best first, at most three; empty if none is
/// near.
std::vector<std::string> nearest(const std::string& wrong, const std::vector<std::string>& known);

/// "; nearest: A, B" or "".
std::string nearest_hint(const std::string& wrong, const std::vector<std::string>& known);

/// The names of the heuristics that choose among legal values.
std::vector<std::string> heuristic_names();

/// "" if `chain` (A:B:C) names only known analyses, else what is wrong with it.
std::string check_chain(const std::string& chain);

/// The numbers of a model that schedules are searched with, sc or rc11, and of a heuristic (""; none). ""
/// or what is wrong.
std::string check_model(const std::string& model, const std::string& heuristic, ModelId& number,
                        std::optional<HeuristicId>& chosen);

}  // namespace duress::cli

#endif  // DURESS_CLI_CATALOG_H_
