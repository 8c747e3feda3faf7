// SPDX-License-Identifier: Apache-2.0
//
// `duress doctor`: what works on this machine, and the command that repairs what does not.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/machine_checks.h"

namespace duress::cli {

int doctor_command(const Arguments& arguments) {
  if (!arguments.empty() && (arguments[0] == "-h" || arguments[0] == "--help")) {
    fmt::print(
        "Usage: duress doctor\nTries what duress needs from this machine and names the command that fixes "
        "what fails.\n"
        "Exit code 0: everything needed works; 125: something needed does not.\n");
    return kExitOk;
  }
  if (!arguments.empty()) return wrong_use("doctor", fmt::format("unexpected argument '{}'", arguments[0]));

  bool good = true;
  for (const MachineCheck& check : check_machine()) {
    const char* mark = check.outcome == CheckOutcome::kWorks     ? "ok  "
                       : check.outcome == CheckOutcome::kSkipped ? "skip"
                       : check.needed                            ? "FAIL"
                                                                 : "warn";
    fmt::print("{}  {:<22} {}\n", mark, check.what, check.detail);
    if (!check.fix.empty()) fmt::print("      {:<22} fix: {}\n", "", check.fix);
    if (check.needed && check.outcome != CheckOutcome::kWorks) good = false;
  }
  fmt::print("{}\n", good ? "duress works on this machine" : "duress does not work on this machine yet");
  return good ? kExitOk : kExitToolFailed;
}

}  // namespace duress::cli
