// SPDX-License-Identifier: Apache-2.0
//
// Whether this machine lets us do what sampling needs; found out by doing it, on a child of our own.
#pragma once

#include <string>

namespace duress::collide {

/// A child is traced, gets a breakpoint, runs into it and ends as it would have. "" or what failed.
std::string probe_tracing();

/// A child writes to watched memory. "" or what failed.
std::string probe_watchpoints();

}  // namespace duress::collide
