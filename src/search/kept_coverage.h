// SPDX-License-Identifier: Apache-2.0
//
// The orders that a campaign has seen are kept below `--dir`, so that the next campaign of the same program
// can say what is new.
#pragma once

#include <string>

#include "report/coverage.h"

namespace duress::search {

/// Says in `coverage` what is new against the last campaign of `program` (its words and where it runs), if
/// there was one, and keeps it for the next. "" or what went wrong.
std::string compare_with_last(const std::string& dir, const std::string& program, report::Coverage& coverage);

}  // namespace duress::search
