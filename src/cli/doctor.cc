// SPDX-License-Identifier: Apache-2.0
//
// `duress doctor`: what works on this machine, and the command that repairs what does not.
#include <fmt/format.h>

#include "cli/commands.h"
#include "collide/probe.h"
#include "exec/machine_checks.h"

namespace duress::cli {
namespace {

using exec::CheckOutcome;
using exec::MachineCheck;

MachineCheck check_tracing() {
  MachineCheck check{"tracing", false};
  std::string problem = collide::probe_tracing();
  if (problem.empty()) return works(check, "a child was traced and ran into a breakpoint");
  return fails(check, problem + " (only needed for duress collide)",
               "sysctl kernel.yama.ptrace_scope=1; in a container add the capability SYS_PTRACE");
}

MachineCheck check_watchpoints() {
  MachineCheck check{"hardware watchpoints", false};
  std::string problem = collide::probe_watchpoints();
  if (problem.empty()) return works(check, "usable");
  return fails(check, problem + " (without them duress collide compares values only)",
               "sysctl kernel.perf_event_paranoid=2; in a container allow perf_event_open");
}

}  // namespace

int doctor_command(const Arguments& arguments) {
  if (!arguments.empty() && (arguments[0] == "-h" || arguments[0] == "--help")) {
    fmt::print(
        "Usage: duress doctor [[--] PROGRAM ARGS]\nTries what duress needs from this machine and names the "
        "command that fixes what fails.\n"
        "With a program: performs a few executions of it and says whether each needs a process of its own, "
        "why, and what is not controlled.\n"
        "Exit code 0: everything needed works; 125: something needed does not.\n");
    return kExitOk;
  }
  bool marked = !arguments.empty() && arguments[0] == "--";
  if (marked && arguments.size() == 1) return wrong_use("doctor", "no program behind '--'");
  if (!marked && !arguments.empty() && arguments[0].starts_with("-"))
    return wrong_use("doctor", fmt::format("unexpected argument '{}'", arguments[0]));
  if (!arguments.empty()) return doctor_program({arguments.begin() + (marked ? 1 : 0), arguments.end()});

  std::vector<MachineCheck> checks = exec::check_machine();
  checks.push_back(check_tracing());
  checks.push_back(check_watchpoints());
  checks.push_back(exec::check_racy_program(checks));
  bool good = true;
  for (const MachineCheck& check : checks) {
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
