// SPDX-License-Identifier: Apache-2.0
//
// How a search found a failure, in the lines below it.
#pragma once

#include <string>
#include <vector>

#include "report/failure_entry.h"
#include "report/style.h"

namespace duress::report {

/// For to_text of failure_text.h.
std::vector<std::string> discovery_remarks(const FailureEntry& entry, std::int64_t seed,
                                           const FindingStyle& style);

}  // namespace duress::report
