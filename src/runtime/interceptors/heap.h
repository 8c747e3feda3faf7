// SPDX-License-Identifier: Apache-2.0
//
// The heap as malloc's family and operator new share it. The C library's own allocator does the work, called
// by its private names: looking the real functions up would allocate.
#ifndef DURESS_RUNTIME_INTERCEPTORS_HEAP_H_
#define DURESS_RUNTIME_INTERCEPTORS_HEAP_H_

#include "runtime/interceptors/real.h"

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void* __libc_valloc(size_t);
void* __libc_pvalloc(size_t);
void __libc_free(void*);
}

namespace duress {

/// Announces a block that was just allocated.
inline void* new_block(void* p, size_t size, uptr pc) {
  if (awake() && p) memory_allocated(p, size, pc);
  return p;
}

inline void free_block(void* p, uptr pc) {
  if (awake() && p) memory_freeing(p, pc);
  __libc_free(p);
}

}  // namespace duress

#endif  // DURESS_RUNTIME_INTERCEPTORS_HEAP_H_
