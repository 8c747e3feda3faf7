// SPDX-License-Identifier: Apache-2.0
//
// A program built once more with changed source files, in a folder of its own: the files of the user stay as
// they are. The compiler sees the changed text under the path of the original (clang's -ivfsoverlay).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "repair/source_edit.h"
#include "report/compile_commands.h"

namespace duress::repair {

/// A recorded command, taken apart.
struct Compilation {
  std::string directory, file;
  bool cxx = true;
  std::vector<std::string> arguments;  // for compiling: no inputs, no outputs, nothing of ours
  std::vector<std::string> linking;    // what the same command says about linking; empty: nothing
};

/// Which arguments are of which step.
Compilation compilation_of(const report::CompileCommand& command);

/// All parts of the program whose commands were recorded.
std::vector<Compilation> compilations_of(const std::string& program);

/// Builds `program` with the edits. The path of the new program, or "" and what went wrong.
std::string rebuild(const std::string& program, const std::vector<FileEdit>& edits, const std::string& folder,
                    std::string& error);

}  // namespace duress::repair
