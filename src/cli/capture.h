// SPDX-License-Identifier: Apache-2.0
//
// Running a helper program for its output.
#ifndef DURESS_CLI_CAPTURE_H_
#define DURESS_CLI_CAPTURE_H_

#include <string>
#include <vector>

namespace duress::cli {

struct Captured {
  int code = -1;       // exit code, 128 + signal, or -1 if it could not be started
  std::string output;  // stdout and stderr together
};

Captured capture(const std::vector<std::string>& argv);

}  // namespace duress::cli

#endif  // DURESS_CLI_CAPTURE_H_
