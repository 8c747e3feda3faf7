// SPDX-License-Identifier: Apache-2.0
//
// What a run wrote to its standard streams.
#pragma once

#include <string>
#include <string_view>

namespace duress::exec {

/// Where a run's output went.
struct Captured {
  std::string output;  // paths
  std::string errors;
};

/// What a run wrote, for comparisons: sanitizers begin their lines with ==1234==, the process id, which does
/// not depend on the schedule; it becomes ==PID==.
std::string without_process_ids(std::string_view text);

/// The end of what it wrote to stderr, from the beginning of a line where there is one: 4 KiB without process
/// ids. The same run gives the same text, however many digits its process id has.
std::string last_errors(const Captured& captured);

}  // namespace duress::exec
