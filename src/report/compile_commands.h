// SPDX-License-Identifier: Apache-2.0
//
// How the parts of a program were compiled, as its debug information says: duress-cc and duress-c++ record
// their command lines there (-grecord-command-line). What was compiled by others is not listed.
#pragma once

#include <string>
#include <vector>

namespace duress::report {

struct CompileCommand {
  std::string directory;
  std::string file;                    // absolute
  std::vector<std::string> arguments;  // the compiler first
};

std::vector<CompileCommand> recorded_commands(const std::string& program);

/// The compiler and its arguments in what a compiler calls itself; empty: they were not recorded.
std::vector<std::string> command_in(const std::string& producer);

/// Shared libraries that it was linked with ("libz.so.1"), and where they are looked for.
struct LinkedLibraries {
  std::vector<std::string> names, folders;
};
LinkedLibraries linked_libraries(const std::string& program);

}  // namespace duress::report
