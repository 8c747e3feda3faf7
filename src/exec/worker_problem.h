// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace duress::exec {

/// Why a worker cannot continue, in one line, and the kind of problem: the command may add advice.
struct WorkerProblem {
  enum class Kind {
    kNone,
    kCannotStart,  // no such program
    kEnded,        // it ended without answering: not instrumented, or it did not reach main()
    kSilent,       // it runs, and does not answer
    kTool,         // ours: files, folders
    kStopped,      // we were asked to stop
  };
  Kind kind = Kind::kNone;
  std::string text;
};

}  // namespace duress::exec
