// SPDX-License-Identifier: Apache-2.0
//
// The heap as malloc's family and operator new share it. The C library's own allocator does the work, called
// by its private names: looking the real functions up would allocate.
#pragma once

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

/// Bytes of `p` that the program may use: at least as many as it asked for. Read from the word in front of
/// the block, because malloc_usable_size() may be another allocator's, which does not know the C library's
/// blocks.
inline size_t usable_size(const void* p) {
  constexpr size_t kFlags = 7, kMapped = 2;
  size_t word = static_cast<const size_t*>(p)[-1];
  return (word & ~kFlags) - ((word & kMapped) != 0 ? 2 : 1) * sizeof(size_t);
}

/// Announces a block that was just allocated.
inline void* new_block(void* p, size_t size, uptr pc) {
  if (awake() && p) memory_allocated(p, size, usable_size(p), pc);
  return p;
}

inline void free_block(void* p, uptr pc) {
  if (awake() && p) memory_freeing(p, pc);
  __libc_free(p);
}

}  // namespace duress
