// SPDX-License-Identifier: Apache-2.0
//
// The orders that a campaign has seen, as documents have them and as they are kept for the next campaign.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "report/coverage.h"

namespace duress::report {

nlohmann::ordered_json json_of(const Coverage& coverage);
/// Nothing: it has another shape.
std::optional<Coverage> coverage_of(const nlohmann::ordered_json& json);

/// Says in `coverage` what is new against `last`, the last campaign's. Places are the same if file, function,
/// operation and variable are, and their position among such places: lines may have moved.
void compare(Coverage& coverage, const Coverage& last);

}  // namespace duress::report
