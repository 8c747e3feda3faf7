// SPDX-License-Identifier: Apache-2.0
#include "runtime/unwinding.h"

#include <unwind.h>

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

}  // namespace

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
