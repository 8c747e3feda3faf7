// SPDX-License-Identifier: Apache-2.0
//
// Helper programs, several at a time: their output goes to files, and they end when this process does.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace duress::exec {

struct ChildStart {
  std::vector<std::string> argv;
  std::string folder;                    // to start it in; "": ours
  std::vector<std::string> environment;  // NAME=VALUE beside ours
  std::vector<std::string> unset;        // names that it does not get
  std::string input;                     // file; "": /dev/null
  std::string output, errors;            // files; output "": ours, errors "": with the output
};

/// The first executable file `name` on PATH, or "".
std::string find_program(const std::string& name);
/// The file that `program` names: a path, or a name that is looked up on PATH.
std::string program_path(const std::string& program);

/// Starts it in a process group of its own, so that a Ctrl-C is for us to pass on. -1: errno says why.
pid_t start_child(const ChildStart& start);

/// Waits for it: its exit code, or 128 + signal. With `wait` false -1 if it still runs.
int child_code(pid_t pid, bool wait);

/// Runs it to its end, at most `seconds`. Code -1: it could not be started; 124: it was ended.
struct ChildOutput {
  int code = -1;
  std::string output, errors;
};
/// `input`: what it reads from standard input, in memory, so that a killed host leaves no file; "":
/// start.input.
ChildOutput run_child(ChildStart start, double seconds, std::string_view input = {});

}  // namespace duress::exec
