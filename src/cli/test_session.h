// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/test_options.h"

namespace duress::cli {

/// Classifies the cases, shows progress and results, writes the reports. Returns the exit code.
int run_test_session(TestOptions& options, std::vector<suite::CaseResult> cases);

}  // namespace duress::cli
