// SPDX-License-Identifier: Apache-2.0
//
// A failure as text for people, editors and problem matchers.
#pragma once

#include <string>
#include <vector>

#include "report/failure_entry.h"
#include "report/style.h"

namespace duress::report {

/// `program`: what the first line names if the place is not known. `remarks`: lines to come after the stacks.
std::string to_text(const FailureEntry& entry, const std::string& program,
                    const std::vector<std::string>& remarks, const FindingStyle& style);

}  // namespace duress::report
