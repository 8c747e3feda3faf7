// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C and its like: the command ends its work and reports what it has.
#pragma once

#include <atomic>

namespace duress::cli {

/// Set by SIGINT, SIGTERM or SIGHUP after catch_signals().
extern std::atomic<bool> stop_asked;

/// `once`: a second SIGINT ends the process.
void catch_signals(bool once = true);

}  // namespace duress::cli
