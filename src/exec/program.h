// SPDX-License-Identifier: Apache-2.0
//
// The program that a command is given: whether it can be one, and which build of it it is.
#pragma once

#include <string>

namespace duress::exec {

/// "" or why this cannot be a program: not a regular file, or neither an ELF file nor a script. What else can
/// go wrong the kernel says when it is started. `program`: as it was typed, on PATH if it has no slash.
std::string program_problem(const std::string& program);

/// The build id of an ELF file, or else a hash of what is in it; "" if it cannot be read.
std::string build_of(const std::string& path);

}  // namespace duress::exec
