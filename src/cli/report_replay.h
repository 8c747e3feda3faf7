// SPDX-License-Identifier: Apache-2.0
//
// Runs the executions behind a document's findings once more, for their interleavings.
#pragma once

#include <string>

#include "report/stored_document.h"

namespace duress::cli {

/// Gives each finding that has a token its lanes, or says in `lanes_lack` why it has none. `dir`: where the
/// findings are kept.
void add_lanes(report::StoredDocument& document, const std::string& dir);

}  // namespace duress::cli
