// SPDX-License-Identifier: Apache-2.0
//
// Threads without kernel threads. A controlled execution runs one strand at a time, so one kernel thread is
// enough, and making and ending others takes most of the time of a short execution. But the C library must
// not know: it allocates stacks, storage and descriptors as ever, and runs the thread's function, its
// destructors and its end. Only what it asks of the kernel on the way is answered here: `clone3` gives the
// new strand a number, `exit` takes its stack away, and so on. Its calls come here through call_trap.h.
#pragma once

#include "runtime/call_patch.h"
#include "sched/strand.h"

namespace duress {

/// Whether calls can be trapped here. If not, strands have kernel threads.
bool emulation_possible();
/// Makes `count` threads that end at once, and joins them: the C library keeps their stacks for the next
/// threads, which then need no new mappings.
void emulation_warm_up(int count, bool (*create)(int index), void (*join)(int index));
/// For the handler of SIGSYS: true if the call was answered.
bool emulate_call(const TrappedCall& call, ucontext_t& context);
/// The same without vector registers, for the commonest calls; false: emulate_call() has to look at it.
DURESS_PLAIN_CODE bool emulate_plain_call(long number, const long (&arguments)[6], long* result);
/// `exit` of an emulated thread. Returns if the caller is none.
void emulate_exit();
/// Rollback traps calls no more.
void emulation_without_rollback();

/// While it lives, the C library makes the thread of a strand, or thinks so. The new strand gets as far as
/// emulation_arrive() meanwhile.
class EmulatedCreation {
 public:
  explicit EmulatedCreation(sched::Strand* strand);  // null: a real thread is made
  ~EmulatedCreation();
  EmulatedCreation(const EmulatedCreation&) = delete;
  EmulatedCreation& operator=(const EmulatedCreation&) = delete;
  /// It was made.
  void succeeded();

 private:
  bool emulates_;
};
/// In the new strand: returns when it gets the turn for the first time.
void emulation_arrive(sched::Strand* strand);
/// What follows is the C library's end of the thread; the strand has ended for the scheduler.
void emulation_end(sched::Strand* strand);

/// While it lives, numbers of emulated threads mean something in calls that the C library makes.
class EmulatedNumbers {
 public:
  EmulatedNumbers();
  ~EmulatedNumbers();
  EmulatedNumbers(const EmulatedNumbers&) = delete;
  EmulatedNumbers& operator=(const EmulatedNumbers&) = delete;

 private:
  bool trapped_;
};

/// No process or thread can have these numbers.
inline constexpr int kFirstEmulatedNumber = 1 << 22;
inline bool is_emulated_number(long number) {
  return number >= kFirstEmulatedNumber;
}

}  // namespace duress
