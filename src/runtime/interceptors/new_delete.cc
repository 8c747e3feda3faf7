// SPDX-License-Identifier: Apache-2.0
//
// operator new and delete. The C++ library's would call malloc, which is ours, but then the place that asked for
// the block would be inside that library. The standard says which forms are defined through which others, and a
// program may replace only some: if the plain operator new or delete is not ours, the other forms go to it.
//
// Out of memory: the C++ library's own operator is called; it fails in turn, and knows the new-handler and how to
// throw, which code without exceptions does not.
#include <dlfcn.h>

#include "runtime/interceptors/heap.h"

namespace duress {
namespace {

using std::size_t;

void* no_memory(const char* plain_new, size_t size) {
  auto* real = reinterpret_cast<void* (*)(size_t)>(dlsym(RTLD_NEXT, plain_new));
  if (!real) __builtin_trap();  // a statically linked C++ library: nobody can throw for us
  return real(size);
}

void* no_memory_aligned(const char* aligned_new, size_t size, size_t alignment) {
  auto* real = reinterpret_cast<void* (*)(size_t, size_t)>(dlsym(RTLD_NEXT, aligned_new));
  if (!real) __builtin_trap();
  return real(size, alignment);
}

size_t at_least_one(size_t size) { return size ? size : 1; }

void* allocate(size_t size, uptr pc) { return new_block(__libc_malloc(at_least_one(size)), size, pc); }

void* allocate_aligned(size_t size, size_t alignment, uptr pc) {
  return new_block(__libc_memalign(alignment, at_least_one(size)), size, pc);
}

}  // namespace
}  // namespace duress

using namespace duress;

// By their mangled names: the parameter types std::align_val_t and std::nothrow_t are a number and a reference.
#define DURESS_OPERATOR(result, mangled, parameters)                                    \
  extern "C" result duress_op##mangled parameters __asm__(#mangled) DURESS_INTERCEPTOR_SYMBOL; \
  extern "C" result duress_op##mangled parameters

// The plain forms under a second name, to tell whether the first is still ours.
extern "C" void* duress_plain_new(size_t size) __attribute__((visibility("hidden")));
extern "C" void* duress_plain_new_aligned(size_t size, size_t alignment) __attribute__((visibility("hidden")));
extern "C" void duress_plain_delete(void* p) __attribute__((visibility("hidden")));
extern "C" void duress_plain_delete_aligned(void* p, size_t alignment) __attribute__((visibility("hidden")));

void* duress_plain_new(size_t size) {
  void* p = allocate(size, DURESS_CALLER_PC);
  return DURESS_LIKELY(p != nullptr) ? p : no_memory("_Znwm", size);
}

void* duress_plain_new_aligned(size_t size, size_t alignment) {
  void* p = allocate_aligned(size, alignment, DURESS_CALLER_PC);
  return DURESS_LIKELY(p != nullptr) ? p : no_memory_aligned("_ZnwmSt11align_val_t", size, alignment);
}

void duress_plain_delete(void* p) { free_block(p, DURESS_CALLER_PC); }
void duress_plain_delete_aligned(void* p, size_t) { free_block(p, DURESS_CALLER_PC); }

extern "C" {
DURESS_INTERCEPTOR_SYMBOL void* _Znwm(size_t) __attribute__((alias("duress_plain_new")));
DURESS_INTERCEPTOR_SYMBOL void* _ZnwmSt11align_val_t(size_t, size_t)
    __attribute__((alias("duress_plain_new_aligned")));
DURESS_INTERCEPTOR_SYMBOL void _ZdlPv(void*) __attribute__((alias("duress_plain_delete")));
DURESS_INTERCEPTOR_SYMBOL void _ZdlPvSt11align_val_t(void*, size_t)
    __attribute__((alias("duress_plain_delete_aligned")));
}

#define DURESS_IS_OURS(mangled, plain) (DURESS_LIKELY(&mangled == &plain))

static void* new_from(size_t size, uptr pc) {
  if (!DURESS_IS_OURS(_Znwm, duress_plain_new)) return _Znwm(size);
  void* p = allocate(size, pc);
  return DURESS_LIKELY(p != nullptr) ? p : no_memory("_Znwm", size);
}

static void* new_aligned_from(size_t size, size_t alignment, uptr pc) {
  if (!DURESS_IS_OURS(_ZnwmSt11align_val_t, duress_plain_new_aligned)) return _ZnwmSt11align_val_t(size, alignment);
  void* p = allocate_aligned(size, alignment, pc);
  return DURESS_LIKELY(p != nullptr) ? p : no_memory_aligned("_ZnwmSt11align_val_t", size, alignment);
}

/// With nothrow, no new-handler is asked when memory is out; the standard would ask it first.
static void* new_or_null(size_t size, uptr pc) {
  return DURESS_IS_OURS(_Znwm, duress_plain_new) ? allocate(size, pc) : _Znwm(size);
}

static void* new_aligned_or_null(size_t size, size_t alignment, uptr pc) {
  return DURESS_IS_OURS(_ZnwmSt11align_val_t, duress_plain_new_aligned) ? allocate_aligned(size, alignment, pc)
                                                                         : _ZnwmSt11align_val_t(size, alignment);
}

static void delete_from(void* p, uptr pc) {
  if (!DURESS_IS_OURS(_ZdlPv, duress_plain_delete)) return _ZdlPv(p);
  free_block(p, pc);
}

static void delete_aligned_from(void* p, size_t alignment, uptr pc) {
  if (!DURESS_IS_OURS(_ZdlPvSt11align_val_t, duress_plain_delete_aligned)) return _ZdlPvSt11align_val_t(p, alignment);
  free_block(p, pc);
}

// new[], nothrow, aligned.
DURESS_OPERATOR(void*, _Znam, (size_t size)) { return new_from(size, DURESS_CALLER_PC); }
DURESS_OPERATOR(void*, _ZnwmRKSt9nothrow_t, (size_t size, const void*)) { return new_or_null(size, DURESS_CALLER_PC); }
DURESS_OPERATOR(void*, _ZnamRKSt9nothrow_t, (size_t size, const void*)) { return new_or_null(size, DURESS_CALLER_PC); }
DURESS_OPERATOR(void*, _ZnamSt11align_val_t, (size_t size, size_t alignment)) {
  return new_aligned_from(size, alignment, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void*, _ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void*)) {
  return new_aligned_or_null(size, alignment, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void*, _ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void*)) {
  return new_aligned_or_null(size, alignment, DURESS_CALLER_PC);
}

// delete[], with a size, nothrow, aligned.
DURESS_OPERATOR(void, _ZdaPv, (void* p)) { delete_from(p, DURESS_CALLER_PC); }
DURESS_OPERATOR(void, _ZdlPvm, (void* p, size_t)) { delete_from(p, DURESS_CALLER_PC); }
DURESS_OPERATOR(void, _ZdaPvm, (void* p, size_t)) { delete_from(p, DURESS_CALLER_PC); }
DURESS_OPERATOR(void, _ZdlPvRKSt9nothrow_t, (void* p, const void*)) { delete_from(p, DURESS_CALLER_PC); }
DURESS_OPERATOR(void, _ZdaPvRKSt9nothrow_t, (void* p, const void*)) { delete_from(p, DURESS_CALLER_PC); }
DURESS_OPERATOR(void, _ZdaPvSt11align_val_t, (void* p, size_t alignment)) {
  delete_aligned_from(p, alignment, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void, _ZdlPvmSt11align_val_t, (void* p, size_t, size_t alignment)) {
  delete_aligned_from(p, alignment, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void, _ZdaPvmSt11align_val_t, (void* p, size_t, size_t alignment)) {
  delete_aligned_from(p, alignment, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void, _ZdlPvSt11align_val_tRKSt9nothrow_t, (void* p, size_t alignment, const void*)) {
  delete_aligned_from(p, alignment, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void, _ZdaPvSt11align_val_tRKSt9nothrow_t, (void* p, size_t alignment, const void*)) {
  delete_aligned_from(p, alignment, DURESS_CALLER_PC);
}
