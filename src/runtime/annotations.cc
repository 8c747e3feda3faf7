// SPDX-License-Identifier: Apache-2.0
//
// What include/duress/annotate.h calls.
#include "runtime/control.h"
#include "runtime/runtime.h"

using namespace duress;

#define DURESS_EXPORT extern "C" __attribute__((visibility("default")))

DURESS_EXPORT void __duress_annotate_release(const volatile void* p) {
  sync_release_join(const_cast<const void*>(p), DURESS_CALLER_PC);
}

DURESS_EXPORT void __duress_annotate_acquire(const volatile void* p) {
  sync_acquire(const_cast<const void*>(p), DURESS_CALLER_PC);
}

DURESS_EXPORT void __duress_annotate_ignore(int begin) {
  Thread* t = current_thread();
  if (!t) return;
  if (begin) {
    ++t->fasttrack.ignore;
  } else if (t->fasttrack.ignore > 0) {
    --t->fasttrack.ignore;
  }
}

DURESS_EXPORT void __duress_annotate_block(const char* name, int begin) {
  sync_block(name, begin != 0, DURESS_CALLER_PC);
}

DURESS_EXPORT void __duress_annotate_access(const volatile void* p, size_t size, int write) {
  memory_accessed(const_cast<const void*>(p), size, write != 0, DURESS_CALLER_PC);
}

DURESS_EXPORT void __duress_annotate_assume(int holds) {
  if (!holds && controlled()) scheduler().assumption_failed(DURESS_CALLER_PC);
}

DURESS_EXPORT unsigned __duress_annotate_nondet(unsigned count) {
  return controlled() ? scheduler().nondet(count, DURESS_CALLER_PC) : 0;
}
