// SPDX-License-Identifier: Apache-2.0
//
// Stacks change hands. A strand's stack and thread-local storage are those of a real pthread; between
// schedule points either its own kernel thread runs it or the carrier does. The obvious way, handing a futex
// to the strand's kernel thread, costs 3,500 to 6,200 ns; changing stack pointer and %fs costs 20.
//
// A kernel thread whose stack the carrier may run must not stand on it: it waits on a parking stack of its
// own.
#pragma once

#include "base/types.h"

namespace duress::sched {

extern "C" {
/// Keeps the caller's registers on its stack, its stack pointer in *save; goes on at `load` with the
/// thread-local storage `fs`. Returns when another switches to *save.
void duress_context_switch(void** save, void* load, uptr fs);
/// Keeps the caller likewise, then calls entry(a, b) on another stack, which never returns. The thread-local
/// storage stays.
void duress_context_leave(void** save, void* stack_top, void (*entry)(void*, void*), void* a, void* b);
/// Goes on at `load`, on the kernel thread whose thread-local storage it has anyway.
[[noreturn]] void duress_context_resume(void* load);
}

/// The calling thread's %fs base.
uptr thread_pointer();
void set_thread_pointer(uptr value);
/// Decides once how %fs is set.
void prepare_contexts();

}  // namespace duress::sched
