// SPDX-License-Identifier: Apache-2.0
//
// One line of a log: from JSON to a record.
#pragma once

#include "finding/log_fields.h"
#include "finding/log_record.h"

namespace duress::finding {

/// Throws if it is no `start` line of this version.
ProcessLog to_process(const Json& line, const std::string& file);

/// Adds what a line of that kind says; throws if it is malformed, and has added nothing then. A kind that
/// is not known is of a newer runtime: it is left out.
void add_line(const std::string& kind, const Json& line, ProcessLog& process);

}  // namespace duress::finding
