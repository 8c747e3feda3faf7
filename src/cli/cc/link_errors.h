// SPDX-License-Identifier: Apache-2.0
//
// A linker says "undefined symbol" of a hook that the runtime does not have, which tells a user nothing about
// what to do. So a command that links is watched, and such an error is followed by one line that does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace duress::cc {

/// Names of hooks that a linker's messages call undefined, in order, each once. Hooks of other sanitizers are
/// not among them.
std::vector<std::string> missing_hooks(std::string_view messages);

/// What to do about them. REQUIRES: not empty.
std::string advice_on(const std::vector<std::string>& hooks);

/// Runs the command, passes on its messages as they come, and adds a line, which begins with `name`, to those
/// about hooks. The result is the command's exit code; where it was ended by a signal, so is this process.
/// -1: it could not be started (errno).
int link_and_explain(const char* name, char* const* command);

}  // namespace duress::cc
