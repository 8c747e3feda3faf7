// SPDX-License-Identifier: Apache-2.0
//
// Lanes in a `duress/1` document, an object per event; and in a page, a column per field.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "finding/lanes.h"

namespace duress::report {

nlohmann::ordered_json lanes_json(const finding::Lanes& lanes);
/// What makes no sense is left out.
finding::Lanes read_lanes(const nlohmann::ordered_json& json);

/// The same in few bytes, for src/report/html/model.js. Columns compress well; what one place does is one
/// number; most values and arrows follow from the stores and unlocks before, and are then not written.
std::string lanes_columns(const finding::Lanes& lanes);

}  // namespace duress::report
