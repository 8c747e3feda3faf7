// SPDX-License-Identifier: Apache-2.0
//
// The start of main. Everything before it (loading, constructors) is the same in every run, so a fork server
// waits here.
#include "runtime/control.h"
#include "runtime/crash.h"
#include "runtime/exit_wait.h"
#include "runtime/interceptors/real.h"
#include "runtime/misuse.h"

namespace duress {
namespace {

using Main = int(int, char**, char**);
constinit Main* program_main = nullptr;

int run_main(int count, char** arguments, char** environment) {
  control_fork_point();
  if (controlled()) controlled()->job_frame = __builtin_frame_address(0);
  int code = program_main(count, arguments, environment);
  control_settle(address_of(reinterpret_cast<void*>(program_main)));
  if (controlled()) scheduler().leave(address_of(reinterpret_cast<void*>(program_main)));
  wait_for_other_threads();
  if (code == 0) misuse_at_exit();
  report_exit(code, address_of(reinterpret_cast<void*>(program_main)), true);
  return code;
}

}  // namespace
}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(int, __libc_start_main,
                   (Main * main, int count, char** arguments, void (*initialise)(), void (*finish)(),
                    void (*finish_loader)(), void* stack_end)) {
  program_main = main;
  return DURESS_REAL(__libc_start_main)(awake() ? run_main : main, count, arguments, initialise, finish,
                                        finish_loader, stack_end);
}
