// SPDX-License-Identifier: Apache-2.0
//
// Once: the routine's end → every return from once. The C library marks the control as done before it comes
// back to us, and other threads may then return at once; so the release must be made inside, right after the
// routine. The routine that is really run is ours; which one the program wanted is kept per thread.
// std::call_once and C11's call_once come here too.
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <threads.h>

#include "runtime/control.h"
#include "runtime/interceptors/real.h"

namespace duress {
namespace {

struct OnceCall {
  void* control;
  void (*routine)();
  uptr pc;
};

thread_local OnceCall* wanted = nullptr;

void run_routine() {
  OnceCall* call = wanted;
  sync_acquire(call->control, call->pc);  // from an attempt that was left by an exception or a cancellation
  duress_with_cleanup(
      [](void* data) {
        static_cast<OnceCall*>(data)->routine();
        return 0;
      },
      [](void* data) {
        auto* c = static_cast<OnceCall*>(data);
        sync_release(c->control, c->pc);
        if (controlled()) scheduler().lock_given(address_of(c->control));
      },
      call);
  sync_release(call->control, call->pc);
}

/// As the C library marks it, in both kinds of once.
bool is_done(const void* control) {
  constexpr int kDone = 2;
  return __atomic_load_n(static_cast<const int*>(control), __ATOMIC_ACQUIRE) & kDone;
}

/// libgcc's unwinder measures the registers once. Nobody can tell who did it, but threads that throw, or
/// leave by pthread_exit, would meet there.
bool is_unwinder(uptr pc) {
  static uptr asked = 0;  // last; it has two such calls
  static bool answer = false;
  if (asked == pc) return answer;
  Uncontrolled here;
  Dl_info info = {};
  const bool found = dladdr(reinterpret_cast<const void*>(pc), &info) && info.dli_fname;
  answer = found && strstr(info.dli_fname, "/libgcc_s.so") != nullptr;
  asked = pc;
  return answer;
}

/// `once` makes the real call with the routine it is given.
template <typename Once>
auto call_once_with(void* control, void (*routine)(), uptr pc, Once once) {
  // Two strands must not meet in the real function: the second one would wait there for ever.
  if (controlled() && scheduler().is_systematic()) {
    scheduler().point({OpKind::kOnce, 0, address_of(control), 0, pc, 0, 0, /*only asks*/ 1});
  }
  bool first = controlled() && !is_done(control);
  if (first) control_lock(control, /*reentrant=*/false, pc, sched::kNever, [] { return 0; });
  OnceCall call = {control, routine, pc};
  OnceCall* outer = wanted;  // a routine may call once for something else
  wanted = &call;
  auto result = once(run_routine);
  wanted = outer;
  if (first) {
    scheduler().lock_given(address_of(control));
    scheduler().changed();
  }
  sync_acquire(control, pc);
  return result;
}

}  // namespace
}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(int, pthread_once, (pthread_once_t * control, void (*routine)())) {
  if (!awake() || (controlled() && is_unwinder(DURESS_CALLER_PC)))
    return DURESS_REAL(pthread_once)(control, routine);
  return call_once_with(control, routine, DURESS_CALLER_PC,
                        [=](void (*ours)()) { return DURESS_REAL(pthread_once)(control, ours); });
}

DURESS_INTERCEPTOR(void, call_once, (once_flag * flag, void (*routine)())) {
  if (!awake()) return DURESS_REAL(call_once)(flag, routine);
  call_once_with(flag, routine, DURESS_CALLER_PC, [=](void (*ours)()) {
    DURESS_REAL(call_once)(flag, ours);
    return 0;
  });
}
