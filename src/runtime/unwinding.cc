// SPDX-License-Identifier: Apache-2.0
#include "runtime/unwinding.h"

#include <unwind.h>

#include "base/prng.h"
#include "runtime/control.h"

namespace duress {

namespace {

struct Unwinding {
  uptr* frames;
  int most;
  uptr from;
  bool reached;
  int count;

  static _Unwind_Reason_Code step(_Unwind_Context* context, void* self) {
    auto& u = *static_cast<Unwinding*>(self);
    uptr pc = _Unwind_GetIP(context);
    u.reached |= pc == u.from;
    if (u.reached && pc) u.frames[u.count++] = pc;
    return u.count == u.most ? _URC_END_OF_STACK : _URC_NO_REASON;
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

}  // namespace

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
  Unwinding u = {frames, most, from, false, 0};
  _Unwind_Backtrace(&Unwinding::step, &u);
  if (u.count) return u.count;
  u.reached = true;
  _Unwind_Backtrace(&Unwinding::step, &u);
  return u.count;
}

}  // namespace duress
