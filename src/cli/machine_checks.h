// SPDX-License-Identifier: Apache-2.0
//
// What duress needs from this machine, each thing tried by doing it rather than by reading versions.
#ifndef DURESS_CLI_MACHINE_CHECKS_H_
#define DURESS_CLI_MACHINE_CHECKS_H_

#include <string>
#include <vector>

namespace duress::cli {

enum class CheckOutcome { kWorks, kFails, kSkipped };

struct MachineCheck {
  const char* what;
  bool needed;  // without it `duress run` does not work
  CheckOutcome outcome = CheckOutcome::kWorks;
  std::string detail = {};
  std::string fix = {};
};

/// Tries everything.
std::vector<MachineCheck> check_machine();

}  // namespace duress::cli

#endif  // DURESS_CLI_MACHINE_CHECKS_H_
