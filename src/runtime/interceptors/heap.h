// SPDX-License-Identifier: Apache-2.0
//
// The heap as malloc's family and operator new share it. The C library's private names do the work: looking
// the real functions up would allocate. They are the C library's own allocator, or one that is linked or
// preloaded and defines these names too (tcmalloc, mimalloc). Any other (jemalloc) is not used.
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

/// Whose blocks __libc_malloc returns; kUnknown until heap_ready().
enum class Allocator : u8 { kUnknown, kCLibrary, kOther };
extern Allocator g_allocator;
/// Finds out. Looks names up, which may allocate: called when the runtime wakes.
void heap_ready();
/// Of a block of another allocator; 0: not known.
size_t other_usable_size(void* p);

/// Bytes of `p`, a block of `size` bytes, that the program may use. Read from the word in front of a block of
/// the C library, because malloc_usable_size() may be another allocator's, which does not know such blocks.
inline size_t usable_size(void* p, size_t size) {
  constexpr size_t kFlags = 7, kMapped = 2;
  if (DURESS_LIKELY(g_allocator == Allocator::kCLibrary)) {
    size_t word = static_cast<const size_t*>(p)[-1];
    return (word & ~kFlags) - ((word & kMapped) != 0 ? 2 : 1) * sizeof(size_t);
  }
  size_t known = other_usable_size(p);
  return known > size ? known : size;
}

/// Null: the call is the program's. Only controlled executions pay for a look at the thread.
inline PrivateHeap* private_heap() {
  return DURESS_UNLIKELY(g_redzone != 0) ? t_private_heap : nullptr;
}

/// What to ask the allocator for when the program asks for `size` bytes.
inline size_t with_redzone(size_t size) {
  return size + (DURESS_LIKELY(size <= SIZE_MAX - kRedzone) ? g_redzone : 0);
}

/// Announces a block that was just allocated.
inline void* new_block(void* p, size_t size, HeapCall by, uptr pc) {
  if (awake() && p) memory_allocated(p, size, usable_size(p, size), by, pc);
  return p;
}

inline void free_block(void* p, HeapCall by, uptr pc) {
  if (awake() && p && memory_freeing(p, by, pc)) return;
  __libc_free(p);
}

}  // namespace duress
