// SPDX-License-Identifier: Apache-2.0
//
// The interleaving of a failing execution of duress::check, a column per thread. Source lines of accesses
// come from the site table; those of locks and the like from llvm-symbolizer, if there is one.
#ifndef DURESS_CHECK_STEP_TRACE_H_
#define DURESS_CHECK_STEP_TRACE_H_

#include "base/text.h"
#include "duress/hooks.h"
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
  /// Accesses at these sites, of which access() is told, are steps too, though nobody schedules there.
  void watch(const DuressSite* first, const DuressSite* second);
  /// They are accesses of this place, the others are left out.
  void race_was_at(uptr address, u32 size);

  // For the scheduler.
  static void step(const sched::Strand& strand);
  static void dump(sched::Strand& strand);
  static void access(const void* p, u64 size, bool write, const DuressSite* site);
  /// The value that the last step read or wrote.
  static bool value(u64 value, u32 size);

 private:
  trail::Request& request_;
};

// ---- for texts
/// Where in the source a return address is: "file:line" of the innermost function that is not of the C++
/// library, "" if that is not known. Asks llvm-symbolizer, once for an address.
const char* source_line(uptr return_address);
const char* base_name(const char* path);
void put_variable(Text& text, const char* name);
/// Names for locks and the like, as in the interleaving that was written last: lock #1, lock #2.
u32 object_number(uptr object);

}  // namespace duress

#endif  // DURESS_CHECK_STEP_TRACE_H_
