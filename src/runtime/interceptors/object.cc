// SPDX-License-Identifier: Apache-2.0
#include "runtime/interceptors/object.h"

extern "C" char __libc_single_threaded __attribute__((weak));

namespace duress {

constinit bool g_objects_compared = true;

void objects_after_fork() {
  if (&__libc_single_threaded == nullptr || !__libc_single_threaded) g_objects_compared = false;
}

void touch_object(const volatile void* object, bool write, uptr pc, uptr frame) {
  if (write) g_made_objects.add(object);
  if (!g_objects_compared) return;
  uptr caller = instrumented_caller(pc, frame);
  if (caller) object_accessed(const_cast<const void*>(object), write, caller);
}

}  // namespace duress
