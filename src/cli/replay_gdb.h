// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/replay_options.h"
#include "exec/single_run.h"

namespace duress::cli {

/// The execution that the options describe; its files go to `folder`.
exec::SingleRun single_run(const ReplayOptions& options, const std::string& folder);

/// `duress replay --gdb`: the execution in a debugger. Returns the exit code.
int replay_in_gdb(const ReplayOptions& options, const std::string& folder);

}  // namespace duress::cli
