// SPDX-License-Identifier: Apache-2.0
//
// What duress needs from this machine, each thing tried by doing it rather than by reading versions.
#pragma once

#include <string>
#include <vector>

namespace duress::exec {

enum class CheckOutcome { kWorks, kFails, kSkipped };

struct MachineCheck {
  const char* what;
  bool needed;  // without it `duress run` does not work
  CheckOutcome outcome = CheckOutcome::kWorks;
  std::string detail = {};
  std::string fix = {};
};

/// The file `name` of the installation, where duress-cc looks for it too; "" if it is in none of the places.
std::string installed(const std::string& name);

/// Tries all that an execution needs.
std::vector<MachineCheck> check_machine();
/// Builds a racy program and finds its race, unless one of the checks `before` it failed.
MachineCheck check_racy_program(const std::vector<MachineCheck>& before);

// The two outcomes of a check.
MachineCheck works(MachineCheck check, std::string detail);
MachineCheck fails(MachineCheck check, std::string detail, std::string fix);

}  // namespace duress::exec
