// SPDX-License-Identifier: Apache-2.0
#ifndef DURESS_EXEC_WORKER_PROBLEM_H_
#define DURESS_EXEC_WORKER_PROBLEM_H_

#include <string>

namespace duress::exec {

/// Why a worker cannot go on, in one line, and what kind of trouble it is: the command may know more.
struct WorkerProblem {
  enum class Kind {
    kNone,
    kCannotStart,  // no such program
    kEnded,        // it ended instead of answering: not instrumented, or it never came as far as main
    kSilent,       // it runs, and does not answer
    kTool,         // ours: files, folders
    kStopped,      // we were asked to stop
  };
  Kind kind = Kind::kNone;
  std::string text;
};

}  // namespace duress::exec

#endif  // DURESS_EXEC_WORKER_PROBLEM_H_
