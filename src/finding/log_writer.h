// SPDX-License-Identifier: Apache-2.0
//
// A log that was read, as text again: what a campaign keeps of its executions outlives the processes' files.
#pragma once

#include <string>

#include "finding/log_record.h"

namespace duress::finding {

/// The lines from which parse_log() makes this process again: modules, threads, and what reports are made of.
/// What only controlled executions write is left out.
std::string log_text(const ProcessLog& process);

}  // namespace duress::finding
