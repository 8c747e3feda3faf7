// SPDX-License-Identifier: Apache-2.0
//
// Guards of function-local statics: the initialiser's end → every later pass. Compilers test the guard's
// first byte inline with an acquire load and call us only when it is 0, so what we store must look like a
// release store of that byte to the atomic hooks.
//
// These do not stand in for the C++ library's functions but replace them: with a statically linked C++
// library there would be no other definition to find. The layout is libstdc++'s (first byte: done; second:
// being initialised; third: others wait; a futex on the first four), so that a module which kept its own copy
// of these functions may share a guard with us.
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include <climits>

#include "base/raw.h"
#include "runtime/control.h"
#include "runtime/interceptors/real.h"

namespace duress {
namespace {

constexpr u32 kDone = 1, kBusy = 1u << 8, kWaiting = 1u << 16;

std::atomic_ref<u32> state_of(u64* guard) {
  return std::atomic_ref<u32>(*reinterpret_cast<u32*>(guard));
}

void finish(u64* guard, u32 value) {
  u32 old = state_of(guard).exchange(value, std::memory_order_acq_rel);
  if (controlled()) {
    scheduler().lock_given(address_of(guard));
    scheduler().changed();
    return;
  }
  if (old & kWaiting) raw_syscall(SYS_futex, reinterpret_cast<long>(guard), FUTEX_WAKE, INT_MAX);
}

/// True: the caller initialises. False: it is done.
bool begin(u64* guard, uptr pc) {
  auto state = state_of(guard);
  for (;;) {
    u32 seen = 0;
    if (state.compare_exchange_strong(seen, kBusy, std::memory_order_acq_rel, std::memory_order_acquire)) {
      if (controlled()) scheduler().lock_taken(address_of(guard));
      return true;
    }
    if (seen & kDone) return false;
    if (controlled()) {
      scheduler().block({OpKind::kOnce, 0, address_of(guard), 0, pc}, address_of(guard));
      continue;
    }
    u32 waiting = seen | kWaiting;
    if (seen == waiting || state.compare_exchange_strong(seen, waiting, std::memory_order_relaxed)) {
      raw_syscall(SYS_futex, reinterpret_cast<long>(guard), FUTEX_WAIT, static_cast<long>(waiting), 0);
    }
  }
}

}  // namespace
}  // namespace duress

using namespace duress;

extern "C" {
int duress_in_guard_acquire(u64* guard) __asm__("__cxa_guard_acquire") DURESS_INTERCEPTOR_SYMBOL;
void duress_in_guard_release(u64* guard) __asm__("__cxa_guard_release") DURESS_INTERCEPTOR_SYMBOL;
void duress_in_guard_abort(u64* guard) __asm__("__cxa_guard_abort") DURESS_INTERCEPTOR_SYMBOL;
}

int duress_in_guard_acquire(u64* guard) {
  if (controlled()) control_point(OpKind::kOnce, guard, DURESS_CALLER_PC);
  bool ours = begin(guard, DURESS_CALLER_PC);
  if (awake()) {
    if (ours) {
      sync_acquire(guard, DURESS_CALLER_PC);  // from an attempt that was aborted
    } else {
      sync_atomic_load(guard, 1, DURESS_CALLER_PC);
    }
  }
  return ours;
}

void duress_in_guard_release(u64* guard) {
  if (controlled() && scheduler().is_systematic()) control_point(OpKind::kOnce, guard, DURESS_CALLER_PC);
  if (awake()) sync_atomic_store(guard, 1, DURESS_CALLER_PC);
  finish(guard, kDone);
}

void duress_in_guard_abort(u64* guard) {
  if (awake()) sync_release(guard, DURESS_CALLER_PC);
  finish(guard, 0);
}
