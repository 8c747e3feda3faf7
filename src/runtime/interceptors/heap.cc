// SPDX-License-Identifier: Apache-2.0
//
// malloc's family: a block's allocation and end, with the place in the program that asked for it. A library
// of its own, because a sanitizer that has an allocator must keep it. Called from anywhere, at any time:
// before relocation is done, in signal handlers, after exit.
#include "runtime/interceptors/heap.h"

#include <dlfcn.h>
#include <errno.h>

namespace duress {

constinit Allocator g_allocator = Allocator::kUnknown;

namespace {

using UsableSize = size_t(void*);
constinit UsableSize* others_size = nullptr;

/// Where the module begins that has the function; null: none has.
void* module_of(void* function) {
  Dl_info info;
  return function && dladdr(function, &info) ? info.dli_fbase : nullptr;
}

/// Where freed blocks are kept, one that grows or shrinks always moves.
void* move_block(void* old, size_t size, uptr pc) {
  size_t known = guarded_size(old);
  size_t old_size = known ? known : usable_size(old, 0);
  void* p = __libc_malloc(with_redzone(size));
  if (!p) return nullptr;
  new_block(p, size, HeapCall::kMalloc, pc);
  __builtin_memcpy(p, old, old_size < size ? old_size : size);
  free_block(old, HeapCall::kMalloc, pc);
  return p;
}

/// A block that moves or grows ends and begins anew. If the allocator refuses, the old one is still there;
/// what was known about accesses to it is lost.
void* resize_block(void* old, size_t size, uptr pc) {
  if (PrivateHeap* heap = private_heap()) {
    void* p = heap->allocate(size);
    if (p && old) __builtin_memmove(p, old, size);  // zeros come after it, in the same room
    return p;
  }
  if (!awake()) return __libc_realloc(old, size);
  if (!old) return new_block(__libc_malloc(with_redzone(size)), size, HeapCall::kMalloc, pc);
  if (g_redzone && size != 0) return move_block(old, size, pc);
  size_t old_size = usable_size(old, 0);
  if (memory_freeing(old, HeapCall::kMalloc, pc)) return nullptr;
  void* p = __libc_realloc(old, size);
  if (p) {
    memory_allocated(p, size, usable_size(p, size), HeapCall::kMalloc, pc);
  } else if (size != 0) {  // with size 0 it is a free
    memory_allocated(old, old_size, old_size, HeapCall::kMalloc, pc);
  }
  return p;
}

bool is_power_of_two(size_t n) {
  return n && (n & (n - 1)) == 0;
}

}  // namespace

void heap_ready() {
  g_heap_seen = true;
  void* allocator = module_of(dlsym(RTLD_NEXT, "__libc_malloc"));
  if (allocator == module_of(dlsym(RTLD_NEXT, "gnu_get_libc_version"))) {
    g_allocator = Allocator::kCLibrary;
    g_heap_headers = true;
    return;
  }
  g_allocator = Allocator::kOther;
  void* found = dlsym(RTLD_NEXT, "malloc_usable_size");
  if (module_of(found) != allocator) return;
  // The first call may allocate (tcmalloc), and that must not ask again.
  auto* size = reinterpret_cast<UsableSize*>(found);
  void* block = __libc_malloc(1);
  size(block);
  __libc_free(block);
  others_size = size;
}

size_t other_usable_size(void* p) {
  return others_size ? others_size(p) : 0;
}

}  // namespace duress

using namespace duress;

// Not DURESS_INTERCEPTOR: there is nothing to look up.
#define DURESS_HEAP_FUNCTION(result, name, parameters)                                    \
  extern "C" result duress_in_##name parameters __asm__(#name) DURESS_INTERCEPTOR_SYMBOL; \
  extern "C" result duress_in_##name parameters

DURESS_HEAP_FUNCTION(void*, malloc, (size_t size)) {
  if (PrivateHeap* heap = private_heap()) return heap->allocate(size);
  return new_block(__libc_malloc(with_redzone(size)), size, HeapCall::kMalloc, DURESS_CALLER_PC);
}

DURESS_HEAP_FUNCTION(void*, calloc, (size_t count, size_t size)) {
  if (PrivateHeap* heap = private_heap()) return heap->allocate(count * size);
  size_t bytes;
  void* p = g_redzone && !__builtin_mul_overflow(count, size, &bytes) ? __libc_calloc(1, with_redzone(bytes))
                                                                      : __libc_calloc(count, size);
  return new_block(p, count * size, HeapCall::kCalloc, DURESS_CALLER_PC);
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
  if (PrivateHeap* heap = private_heap(); heap && heap->has(p)) return;
  free_block(p, HeapCall::kMalloc, DURESS_CALLER_PC);
}

DURESS_HEAP_FUNCTION(void*, memalign, (size_t alignment, size_t size)) {
  return new_block(__libc_memalign(alignment, with_redzone(size)), size, HeapCall::kMalloc, DURESS_CALLER_PC);
}

DURESS_HEAP_FUNCTION(void*, aligned_alloc, (size_t alignment, size_t size)) {
  return new_block(__libc_memalign(alignment, with_redzone(size)), size, HeapCall::kMalloc, DURESS_CALLER_PC);
}

DURESS_HEAP_FUNCTION(int, posix_memalign, (void** out, size_t alignment, size_t size)) {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  int saved = errno;
  void* p =
      new_block(__libc_memalign(alignment, with_redzone(size)), size, HeapCall::kMalloc, DURESS_CALLER_PC);
  errno = saved;
  if (!p) return ENOMEM;
  *out = p;
  return 0;
}

DURESS_HEAP_FUNCTION(void*, valloc, (size_t size)) {
  return new_block(__libc_valloc(with_redzone(size)), size, HeapCall::kMalloc, DURESS_CALLER_PC);
}

DURESS_HEAP_FUNCTION(void*, pvalloc, (size_t size)) {
  void* p = __libc_pvalloc(size);  // rounds up to whole pages
  return new_block(p, p ? usable_size(p, size) : size, HeapCall::kCalloc, DURESS_CALLER_PC);
}

// Of the allocator that made the block: the name alone would lead to one that did not.
DURESS_HEAP_FUNCTION(size_t, malloc_usable_size, (void* p)) {
  if (!p) return 0;
  if (g_allocator == Allocator::kUnknown) heap_ready();
  if (size_t known = g_redzone && awake() ? guarded_size(p) : 0) return known;
  return usable_size(p, 0);
}
