// SPDX-License-Identifier: Apache-2.0
//
// A target as a fork server: the target itself, stopped before its first thread, so that a run costs a fork
// instead of loading, relocating and initialising the program again. It is the user's code, so nothing it
// does is relied on: every wait has a limit, and the process is watched as well as its pipe.
#pragma once

#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <functional>
#include <string>

#include "exec/files.h"
#include "exec/target_start.h"
#include "exec/worker_problem.h"
#include "trail/execution.h"

namespace duress::exec {

/// "ended with exit code 1", "was ended by SIGSEGV": a status of waitpid().
std::string how_ended(int status);

/// Threads: one at a time.
class ForkServer {
 public:
  enum class Wait { kReply, kTimeout, kFlooded, kGone, kStopped };

  ~ForkServer() { stop(); }

  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  /// `target` without the option `server`. `processor`: which of the allowed ones it uses; -1: any.
  /// REQUIRES: it is not running.
  WorkerProblem start(TargetStart target, int processor);
  /// Ends it and all that it forked. Returns how many processes runs had left behind.
  int stop();

  enum class By { kAny, kKept, kNew };
  /// Asks for a run; wait() gets the replies. kKept: of a process that has performed others, if it is still
  /// there; it does not say that it has begun. kNew: of one that has not.
  void request_run(By by = By::kAny);
  /// Waits for a reply, at most `seconds`. `flooded` is asked now and then whether there is too much output.
  Wait wait(double seconds, trail::Reply& reply, const std::atomic<bool>* stop,
            const std::function<bool()>& flooded = {});
  /// How it ended, or that it lives on without its pipe.
  std::string end_text() const;
  /// It has ended, by SIGKILL: that may have come from outside.
  bool was_killed() const { return WIFSIGNALED(status_) && WTERMSIG(status_) == SIGKILL; }

 private:
  /// Whether the process has ended; waits up to `milliseconds` for that.
  bool has_ended(int milliseconds);

  Descriptor to_, from_;
  Descriptor alive_;  // closed by our end, whichever: the kernel then kills the server and its children
  pid_t pid_ = -1;
  int status_ = 0;
};

}  // namespace duress::exec
