// SPDX-License-Identifier: Apache-2.0
//
// Whether anything may be concluded from an execution that has ended: was it the program that ended it, and
// is what it printed whole?
#pragma once

#include <string>

#include "exec/captured.h"
#include "exec/files.h"
#include "exec/plan.h"

namespace duress::exec {

/// A signal that ended the execution without having come from the program, as far as is known; 0: none.
int unexplained_signal(const Execution& execution);

/// Decides about executions of one plan, one after the other: a death that the program has not caused, as far
/// as the runtime saw, counts only if it comes again each time, and never if it is SIGKILL.
class Deaths {
 public:
  enum class Next {
    kUse,     // the execution counts
    kRepeat,  // once more: it may have been ended from outside
    kGiveUp,  // why() says what happened
  };
  /// Before the first execution.
  Deaths();
  Next after(const Execution& execution, const std::string& program);
  const std::string& why() const { return why_; }

 private:
  static constexpr int kMost = 3;  // executions of one plan
  int count_ = 0;
  int signal_ = 0;  // of the first
  bool equal_ = true, memory_ = false;
  std::string why_;
};

/// "" or why an execution that has ended shows nothing: a limit of this machine, or the runtime gave up.
std::string limit_reached(const Execution& execution, const std::string& program, const Captured& captured);

/// Makes sure that there is room for more in a file into which a target wrote: if not, what it wrote may be
/// cut off. 0 or an error number.
int room_left(const Descriptor& file);

}  // namespace duress::exec
