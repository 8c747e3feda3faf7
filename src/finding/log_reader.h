// SPDX-License-Identifier: Apache-2.0
//
// Reads the log files of a run back.
#pragma once

#include <string>
#include <string_view>

#include "finding/log_record.h"

namespace duress::finding {

/// Adds what `text`, the content of one log file, says to `into`. Never throws: a line that makes no
/// sense becomes a LogProblem, and a last line without its newline is dropped without a word.
void parse_log(std::string_view text, const std::string& file, RunLog& into);

/// Reads every `<pid>.jsonl` below `dir`, in order of pid, so that reports do not depend on how the
/// folder lists its files.
RunLog read_log_dir(const std::string& dir);

}  // namespace duress::finding
