// SPDX-License-Identifier: Apache-2.0
#include "runtime/unwinding.h"

#include <unwind.h>

#include "base/prng.h"
#include "runtime/control.h"

namespace duress {

namespace {

/// A stack, with the place of each return address.
struct KnownStack {
  static constexpr int kMost = 64;
  int count;
  struct {
    const uptr* slot;
    uptr pc;
  } frames[kMost];
};
constexpr u32 kMostKnown = 8;
constinit KnownStack known[kMostKnown] = {};
constinit u32 next_known = 0;

bool is_still_there(const KnownStack& stack, const uptr* slot) {
  if (!stack.count || stack.frames[0].slot != slot) return false;
  for (int i = 0; i < stack.count; ++i) {
    if (*stack.frames[i].slot != stack.frames[i].pc) return false;
  }
  return true;
}

struct Unwinding {
  uptr* frames;
  int most;
  uptr from;
  bool reached;
  int count;
  KnownStack* to_remember;

  static _Unwind_Reason_Code step(_Unwind_Context* context, void* self) {
    auto& u = *static_cast<Unwinding*>(self);
    uptr pc = _Unwind_GetIP(context);
    u.reached |= pc == u.from;
    if (u.reached && pc) {
      if (u.to_remember) u.remember(pc, _Unwind_GetCFA(context));
      u.frames[u.count++] = pc;
    }
    return u.count == u.most ? _URC_END_OF_STACK : _URC_NO_REASON;
  }

  /// Not where a frame was entered otherwise than by a call, as a signal handler is, or is on another stack.
  void remember(uptr pc, uptr stack) {
    constexpr uptr kMostBytes = uptr{64} << 10;
    const auto* slot = reinterpret_cast<const uptr*>(stack) - 1;
    const uptr* first = count > 0 ? to_remember->frames[0].slot : slot;
    const uptr* last = count > 0 ? to_remember->frames[count - 1].slot : slot - 1;
    bool near = slot > last && slot - first < static_cast<long>(kMostBytes / sizeof(uptr));
    if (near && *slot == pc) {
      to_remember->frames[count] = {slot, pc};
    } else {
      to_remember = nullptr;
    }
  }
};

struct LocalState {
  uptr caller;
  uptr stack;  // of the frame
  u64 hash;

  static _Unwind_Reason_Code step(_Unwind_Context* context, void* self) {
    auto& state = *static_cast<LocalState*>(self);
    if (_Unwind_GetIP(context) != state.caller) return _URC_NO_REASON;
    state.stack = _Unwind_GetCFA(context);
    constexpr int kKept[] = {3, 6, 12, 13, 14, 15};  // rbx, rbp, r12 to r15
    for (int r : kKept) state.hash = mix(state.hash ^ _Unwind_GetGR(context, r));
    return _URC_END_OF_STACK;
  }
};

struct FrameSize {
  uptr pc, frame;
  uptr frame_pointer = 0, size = 0;
  bool reached = false;

  static _Unwind_Reason_Code step(_Unwind_Context* context, void* self) {
    auto& f = *static_cast<FrameSize*>(self);
    if (f.reached) {
      f.size = _Unwind_GetCFA(context) - f.frame;
      return _URC_END_OF_STACK;
    }
    f.reached = _Unwind_GetIP(context) == f.pc && _Unwind_GetCFA(context) == f.frame;
    constexpr int kFramePointer = 6;
    if (f.reached) f.frame_pointer = _Unwind_GetGR(context, kFramePointer);
    return _URC_NO_REASON;
  }
};

}  // namespace

uptr unwound_frame_size(uptr pc, uptr frame, bool* same_always) {
  Uncontrolled here;
  FrameSize f = {pc, frame};
  _Unwind_Backtrace(&FrameSize::step, &f);
  // A frame that is found from the frame pointer may have a part whose size is decided at run time.
  *same_always = f.size != 0 && frame + f.size != f.frame_pointer + 2 * sizeof(uptr);
  return f.size;
}

u64 unwound_state(uptr caller, uptr top) {
  Uncontrolled here;
  LocalState state = {caller, 0, caller};
  _Unwind_Backtrace(&LocalState::step, &state);
  if (!state.stack) return 0;
  if (top <= state.stack) return 0;
  for (uptr at = state.stack; at + 8 <= top; at += 8) {
    state.hash = mix(state.hash ^ *reinterpret_cast<const u64*>(at)) + 1;
  }
  return state.hash ? state.hash : 1;
}

int unwind_stack(uptr* frames, int most, uptr from) {
  Uncontrolled here;
  Unwinding u = {frames, most, from, false, 0, nullptr};
  _Unwind_Backtrace(&Unwinding::step, &u);
  if (u.count) return u.count;
  u.reached = true;
  _Unwind_Backtrace(&Unwinding::step, &u);
  return u.count;
}

int unwind_stack_from(uptr* frames, int most, const uptr* slot) {
  if (!controlled()) return unwind_stack(frames, most, *slot);
  for (const KnownStack& stack : known) {
    if (!is_still_there(stack, slot)) continue;
    int count = stack.count < most ? stack.count : most;
    for (int i = 0; i < count; ++i) frames[i] = stack.frames[i].pc;
    return count;
  }
  Uncontrolled here;
  KnownStack& stack = known[next_known++ % kMostKnown];
  stack.count = 0;
  uptr all[KnownStack::kMost];
  Unwinding u = {all, KnownStack::kMost, *slot, false, 0, &stack};
  _Unwind_Backtrace(&Unwinding::step, &u);
  if (u.to_remember && u.count && u.count < KnownStack::kMost && stack.frames[0].slot == slot)
    stack.count = u.count;
  if (!u.count || u.count == KnownStack::kMost) return unwind_stack(frames, most, *slot);
  int count = u.count < most ? u.count : most;
  for (int i = 0; i < count; ++i) frames[i] = all[i];
  return count;
}

}  // namespace duress
