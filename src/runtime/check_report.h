// SPDX-License-Identifier: Apache-2.0
//
// The interleaving of a failing execution of duress::check, a column per thread. Source lines of accesses
// come from the site table; those of locks and the like from llvm-symbolizer, if there is one.
#ifndef DURESS_RUNTIME_CHECK_REPORT_H_
#define DURESS_RUNTIME_CHECK_REPORT_H_

#include "base/text.h"
#include "sched/scheduler.h"

namespace duress {

/// While it lives, executions write down their steps.
class CheckTrace {
 public:
  explicit CheckTrace(trail::Request& request);
  ~CheckTrace();
  CheckTrace(const CheckTrace&) = delete;
  CheckTrace& operator=(const CheckTrace&) = delete;

  void write(Text& text);

  // For the scheduler.
  static void step(const sched::Strand& strand);
  static void dump(sched::Strand& strand);
  /// The value that the last step read or wrote.
  static bool value(u64 value, u32 size);

 private:
  trail::Request& request_;
};

}  // namespace duress

#endif  // DURESS_RUNTIME_CHECK_REPORT_H_
