// SPDX-License-Identifier: Apache-2.0
//
// A trapped system call costs two microseconds (a signal and its return), which is most of a short execution
// that makes twenty of them. Where the same instruction is trapped again and again, it is replaced by a jump:
// the call then comes to the runtime as a call of a function. Only where the instruction before it leaves
// room for the jump and nothing in its mapping can jump between the two, whichever byte is taken for the
// beginning of an instruction.
#pragma once

#include "runtime/call_trap.h"

namespace duress {

/// A call from a place that was patched: the registers, in the order in which the stub pushes them.
struct PatchedCall {
  long number_or_result;
  long arguments[6];
  u64 rbx, rbp;
  uptr site;   // where the patch begins
  uptr after;  // behind the system call; it goes on there
};

/// Lives in memory that is not put back. Zeros are valid.
class CallPatches {
 public:
  /// How often a place has to be trapped; 0: nothing is patched.
  void patch_after(u32 times) { often_ = times; }
  /// Notes that the call before `after` was trapped.
  void note(uptr after, long number);
  /// Patches some of the places that were trapped often. `mapping`: where the code lies that holds an
  /// address. REQUIRES: nobody is between the instructions.
  void patch_next(bool (*mapping)(uptr address, uptr* begin, uptr* end));
  /// Puts all places back.
  void undo();
  /// In a new child of the same server, whose code is the same: patches what the one before found.
  void begin();

 private:
  static constexpr u32 kMost = 32, kLongest = 9;
  static constexpr u32 kAtOnce = 4;
  struct Site {
    uptr after;
    u32 trapped, number;
    bool looked_at, sound;
    u8 patched;  // bytes up to `after`; 0: not
    u8 original[kLongest];
  };
  bool is_sound(const Site& site, uptr begin, uptr end) const;
  bool patch(Site& site, u32 index);

  u32 count_, often_;
  Site sites_[kMost];
};

/// Calls that may be made by a function of the runtime: not those that return twice, or elsewhere.
bool may_be_patched(long number);
/// In every controlled process, so that addresses are the same in all: room for the code that patches jump
/// to.
void reserve_patch_room();

}  // namespace duress

/// For functions that leave vector registers as they are.
#define DURESS_PLAIN_CODE __attribute__((target("general-regs-only")))

/// Called from places that were patched (rollback_calls.cc). The first of them before vector registers are
/// saved: whether that was all.
extern "C" __attribute__((visibility("hidden"))) int duress_on_plain_call(duress::PatchedCall* call);
extern "C" __attribute__((visibility("hidden"))) void duress_on_patched_call(duress::PatchedCall* call);
