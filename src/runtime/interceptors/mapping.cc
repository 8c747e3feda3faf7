// SPDX-License-Identifier: Apache-2.0
//
// Pages that come and go. What is known about an address ends when its page does: a new mapping there is
// other memory. Saying so when pages appear would be enough; saying it when they vanish as well frees shadow
// memory.
#include <sys/mman.h>

#include <cstdarg>

#include "runtime/interceptors/real.h"

using namespace duress;

static void* mapped(void* p, size_t size) {
  if (awake() && p != MAP_FAILED) memory_mapped(p, size);
  return p;
}

DURESS_INTERCEPTOR(void*, mmap, (void* where, size_t size, int protection, int flags, int fd, off_t offset)) {
  return mapped(DURESS_REAL(mmap)(where, size, protection, flags, fd, offset), size);
}

DURESS_INTERCEPTOR(void*, mmap64,
                   (void* where, size_t size, int protection, int flags, int fd, off64_t offset)) {
  return mapped(DURESS_REAL(mmap64)(where, size, protection, flags, fd, offset), size);
}

DURESS_INTERCEPTOR(int, munmap, (void* p, size_t size)) {
  // Before the real call: afterwards another thread may have mapped something else there.
  if (awake()) memory_mapped(p, size);
  return DURESS_REAL(munmap)(p, size);
}

DURESS_INTERCEPTOR(void*, mremap, (void* old, size_t old_size, size_t new_size, int flags, ...)) {
  va_list list;
  va_start(list, flags);
  void* where = va_arg(list, void*);
  va_end(list);
  void* p = DURESS_REAL(mremap)(old, old_size, new_size, flags, where);
  if (!awake() || p == MAP_FAILED) return p;
  if (p != old) {
    // The old pages are not announced as gone: another thread may have mapped them already.
    memory_mapped(p, new_size);
  } else if (new_size > old_size) {
    memory_mapped(static_cast<char*>(p) + old_size, new_size - old_size);
  }
  return p;
}
