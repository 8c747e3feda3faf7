// SPDX-License-Identifier: Apache-2.0
//
// `duress replay --gdb`. gdb runs the program, with commands of ours (packaging/gdb/duress.py): `duress
// replay` in gdb starts this program once more with --for-gdb, which finds the step to stop at, keeps the
// request in memory while gdb needs it, and says with which environment the program is to be run. An editor
// that speaks gdb's machine interface uses the same command.
#pragma once

#include <string>

#include "cli/replay_options.h"
#include "exec/single_run.h"

namespace duress::cli {

/// The execution that the options describe; its files go to `folder`.
exec::SingleRun single_run(const ReplayOptions& options, const std::string& folder);

/// Starts gdb in the foreground. `arguments`: of the command, to be given to the one in gdb. Returns the exit
/// code.
int replay_in_gdb(const Arguments& arguments, const ReplayOptions& options);

/// The other end of gdb's command: a line of JSON about the execution, then a line for each line of standard
/// input ("failure", "step", "switch N": where the next run is to stop), until that ends.
int serve_gdb(ReplayOptions& options, const std::string& folder);

}  // namespace duress::cli
