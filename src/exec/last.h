// SPDX-License-Identifier: Apache-2.0
//
// The document of the last campaign in a folder, for `duress report`: what `--json` would have written, and
// the folder that its paths are relative to.
#pragma once

#include <optional>
#include <string>

namespace duress::exec {

/// Keeps `document` in <dir>/last.json. "" or what went wrong.
std::string save_last(const std::string& dir, const std::string& document);

/// Nothing: see `error`.
std::optional<std::string> load_last(const std::string& dir, std::string& error);

}  // namespace duress::exec
