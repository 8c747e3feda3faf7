// SPDX-License-Identifier: Apache-2.0
//
// How paths and names from a target are shown.
#pragma once

#include <string>
#include <string_view>

namespace duress::report {

/// `path` relative to `cwd` if it lies below it, else unchanged: what an editor started in `cwd` can open.
/// One that does not exist is looked for among the project's sources (source_paths.h).
std::string shown_path(const std::string& path, const std::string& cwd);

/// `text` safe for a terminal: control characters, bytes that are not UTF-8, and the code points that turn
/// the direction of writing become \xNN or \u{NNNN}. Symbol and thread names come from the target and may
/// be anything, an escape sequence that retitles the window included.
std::string printable(std::string_view text);

}  // namespace duress::report
