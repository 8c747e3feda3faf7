// SPDX-License-Identifier: Apache-2.0
//
// malloc's family: a block's allocation and end, with the place in the program that asked for it. A library
// of its own, because a sanitizer that has an allocator must keep it. Called from anywhere, at any time:
// before relocation is done, in signal handlers, after exit.
#include "runtime/interceptors/heap.h"

#include <errno.h>

namespace duress {
namespace {

/// A block that moves or grows ends and begins anew. If the allocator refuses, the old one is still there;
/// what was known about accesses to it is lost.
void* resize_block(void* old, size_t size, uptr pc) {
  if (!awake()) return __libc_realloc(old, size);
  if (!old) return new_block(__libc_malloc(size), size, pc);
  size_t old_size = usable_size(old);
  memory_freeing(old, pc);
  void* p = __libc_realloc(old, size);
  if (p) {
    memory_allocated(p, size, usable_size(p), pc);
  } else if (size != 0) {  // with size 0 it is a free
    memory_allocated(old, old_size, old_size, pc);
  }
  return p;
}

bool is_power_of_two(size_t n) {
  return n && (n & (n - 1)) == 0;
}

}  // namespace
}  // namespace duress

using namespace duress;

// Not DURESS_INTERCEPTOR: there is nothing to look up.
#define DURESS_HEAP_FUNCTION(result, name, parameters)                                    \
  extern "C" result duress_in_##name parameters __asm__(#name) DURESS_INTERCEPTOR_SYMBOL; \
  extern "C" result duress_in_##name parameters

DURESS_HEAP_FUNCTION(void*, malloc, (size_t size)) {
  return new_block(__libc_malloc(size), size, DURESS_CALLER_PC);
}

DURESS_HEAP_FUNCTION(void*, calloc, (size_t count, size_t size)) {
  return new_block(__libc_calloc(count, size), count * size, DURESS_CALLER_PC);
}

DURESS_HEAP_FUNCTION(void*, realloc, (void* p, size_t size)) {
  return resize_block(p, size, DURESS_CALLER_PC);
}

DURESS_HEAP_FUNCTION(void*, reallocarray, (void* p, size_t count, size_t size)) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return resize_block(p, bytes, DURESS_CALLER_PC);
}

DURESS_HEAP_FUNCTION(void, free, (void* p)) {
  free_block(p, DURESS_CALLER_PC);
}

DURESS_HEAP_FUNCTION(void*, memalign, (size_t alignment, size_t size)) {
  return new_block(__libc_memalign(alignment, size), size, DURESS_CALLER_PC);
}

DURESS_HEAP_FUNCTION(void*, aligned_alloc, (size_t alignment, size_t size)) {
  return new_block(__libc_memalign(alignment, size), size, DURESS_CALLER_PC);
}

DURESS_HEAP_FUNCTION(int, posix_memalign, (void** out, size_t alignment, size_t size)) {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  int saved = errno;
  void* p = new_block(__libc_memalign(alignment, size), size, DURESS_CALLER_PC);
  errno = saved;
  if (!p) return ENOMEM;
  *out = p;
  return 0;
}

DURESS_HEAP_FUNCTION(void*, valloc, (size_t size)) {
  return new_block(__libc_valloc(size), size, DURESS_CALLER_PC);
}

DURESS_HEAP_FUNCTION(void*, pvalloc, (size_t size)) {
  void* p = __libc_pvalloc(size);  // rounds up to whole pages
  return new_block(p, p ? usable_size(p) : size, DURESS_CALLER_PC);
}
