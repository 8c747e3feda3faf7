// SPDX-License-Identifier: Apache-2.0
//
// operator new and delete. The C++ library's would call malloc, which is ours, but then the place that asked
// for the block would be inside that library. The standard says which forms are defined through which others,
// and a program may replace only some: if the plain operator new or delete is not ours, the other forms go to
// it.
//
// Out of memory: the new-handler is asked again and again; without one, bad_alloc is thrown. Both are the C++
// library's business: libstdc++ has functions for them, found by weak references, since C programs have
// neither. For another library its own operator new is called, which fails in turn and knows what to do.
#include <dlfcn.h>
#include <stdlib.h>

#include "base/raw.h"
#include "runtime/interceptors/heap.h"

extern "C" {
void (*_ZSt15get_new_handlerv())() __attribute__((weak));  // std::get_new_handler()
void _ZSt17__throw_bad_allocv() __attribute__((weak));     // std::__throw_bad_alloc()
}

namespace duress {
namespace {

using Handler = void (*)();

Handler new_handler() {
  return _ZSt15get_new_handlerv ? _ZSt15get_new_handlerv() : nullptr;
}

[[noreturn]] void throw_no_memory(size_t size) {
  if (_ZSt17__throw_bad_allocv) _ZSt17__throw_bad_allocv();
  if (auto* real = reinterpret_cast<void* (*)(size_t)>(dlsym(RTLD_NEXT, "_Znwm"))) real(size);
  // A statically linked C++ library of which the program uses no part that throws.
  const char text[] = "duress: out of memory in operator new, and nothing to throw bad_alloc with\n";
  write_all(2, text, sizeof text - 1);
  abort();
}

size_t at_least_one(size_t size) {
  return size ? size : 1;
}

void* allocate(size_t size, HeapCall by, uptr pc) {
  void* p;
  while (DURESS_UNLIKELY(!(p = __libc_malloc(with_redzone(at_least_one(size)))))) {
    Handler handler = new_handler();
    if (!handler) return nullptr;
    handler();
  }
  return new_block(p, size, by, pc);
}

void* allocate_aligned(size_t size, size_t alignment, HeapCall by, uptr pc) {
  void* p;
  while (DURESS_UNLIKELY(!(p = __libc_memalign(alignment, with_redzone(at_least_one(size)))))) {
    Handler handler = new_handler();
    if (!handler) return nullptr;
    handler();
  }
  return new_block(p, size, by, pc);
}

void* or_throw(void* p, size_t size) {
  if (DURESS_UNLIKELY(!p)) throw_no_memory(size);
  return p;
}

}  // namespace
}  // namespace duress

using namespace duress;

// By their mangled names: the parameter types std::align_val_t and std::nothrow_t are a number and a
// reference.
#define DURESS_OPERATOR(result, mangled, parameters)                                           \
  extern "C" result duress_op##mangled parameters __asm__(#mangled) DURESS_INTERCEPTOR_SYMBOL; \
  extern "C" result duress_op##mangled parameters

// The plain forms under a second name, to tell whether the first is still ours.
extern "C" void* duress_plain_new(size_t size) __attribute__((visibility("hidden")));
extern "C" void* duress_plain_new_aligned(size_t size, size_t alignment)
    __attribute__((visibility("hidden")));
extern "C" void duress_plain_delete(void* p) __attribute__((visibility("hidden")));
extern "C" void duress_plain_delete_aligned(void* p, size_t alignment) __attribute__((visibility("hidden")));

void* duress_plain_new(size_t size) {
  return or_throw(allocate(size, HeapCall::kNew, DURESS_CALLER_PC), size);
}

void* duress_plain_new_aligned(size_t size, size_t alignment) {
  return or_throw(allocate_aligned(size, alignment, HeapCall::kNew, DURESS_CALLER_PC), size);
}

void duress_plain_delete(void* p) {
  free_block(p, HeapCall::kNew, DURESS_CALLER_PC);
}
void duress_plain_delete_aligned(void* p, size_t) {
  free_block(p, HeapCall::kNew, DURESS_CALLER_PC);
}

extern "C" {
DURESS_INTERCEPTOR_SYMBOL void* _Znwm(size_t) __attribute__((alias("duress_plain_new")));
DURESS_INTERCEPTOR_SYMBOL void* _ZnwmSt11align_val_t(size_t, size_t)
    __attribute__((alias("duress_plain_new_aligned")));
DURESS_INTERCEPTOR_SYMBOL void _ZdlPv(void*) __attribute__((alias("duress_plain_delete")));
DURESS_INTERCEPTOR_SYMBOL void _ZdlPvSt11align_val_t(void*, size_t)
    __attribute__((alias("duress_plain_delete_aligned")));
}

#define DURESS_IS_OURS(mangled, plain) (DURESS_LIKELY(&mangled == &plain))

static void* new_from(size_t size, HeapCall by, uptr pc) {
  if (!DURESS_IS_OURS(_Znwm, duress_plain_new)) return _Znwm(size);
  return or_throw(allocate(size, by, pc), size);
}

static void* new_aligned_from(size_t size, size_t alignment, HeapCall by, uptr pc) {
  if (!DURESS_IS_OURS(_ZnwmSt11align_val_t, duress_plain_new_aligned))
    return _ZnwmSt11align_val_t(size, alignment);
  return or_throw(allocate_aligned(size, alignment, by, pc), size);
}

/// If the program's own plain operator throws here, the exception goes on, where the C++ library would catch
/// it.
static void* new_or_null(size_t size, HeapCall by, uptr pc) {
  return DURESS_IS_OURS(_Znwm, duress_plain_new) ? allocate(size, by, pc) : _Znwm(size);
}

static void* new_aligned_or_null(size_t size, size_t alignment, HeapCall by, uptr pc) {
  return DURESS_IS_OURS(_ZnwmSt11align_val_t, duress_plain_new_aligned)
             ? allocate_aligned(size, alignment, by, pc)
             : _ZnwmSt11align_val_t(size, alignment);
}

static void delete_from(void* p, HeapCall by, uptr pc) {
  if (!DURESS_IS_OURS(_ZdlPv, duress_plain_delete)) return _ZdlPv(p);
  free_block(p, by, pc);
}

static void delete_aligned_from(void* p, size_t alignment, HeapCall by, uptr pc) {
  if (!DURESS_IS_OURS(_ZdlPvSt11align_val_t, duress_plain_delete_aligned))
    return _ZdlPvSt11align_val_t(p, alignment);
  free_block(p, by, pc);
}

// new[], nothrow, aligned.
DURESS_OPERATOR(void*, _Znam, (size_t size)) {
  return new_from(size, HeapCall::kNewArray, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void*, _ZnwmRKSt9nothrow_t, (size_t size, const void*)) {
  return new_or_null(size, HeapCall::kNew, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void*, _ZnamRKSt9nothrow_t, (size_t size, const void*)) {
  return new_or_null(size, HeapCall::kNewArray, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void*, _ZnamSt11align_val_t, (size_t size, size_t alignment)) {
  return new_aligned_from(size, alignment, HeapCall::kNewArray, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void*, _ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void*)) {
  return new_aligned_or_null(size, alignment, HeapCall::kNew, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void*, _ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void*)) {
  return new_aligned_or_null(size, alignment, HeapCall::kNewArray, DURESS_CALLER_PC);
}

// delete[], with a size, nothrow, aligned.
DURESS_OPERATOR(void, _ZdaPv, (void* p)) {
  delete_from(p, HeapCall::kNewArray, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void, _ZdlPvm, (void* p, size_t)) {
  delete_from(p, HeapCall::kNew, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void, _ZdaPvm, (void* p, size_t)) {
  delete_from(p, HeapCall::kNewArray, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void, _ZdlPvRKSt9nothrow_t, (void* p, const void*)) {
  delete_from(p, HeapCall::kNew, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void, _ZdaPvRKSt9nothrow_t, (void* p, const void*)) {
  delete_from(p, HeapCall::kNewArray, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void, _ZdaPvSt11align_val_t, (void* p, size_t alignment)) {
  delete_aligned_from(p, alignment, HeapCall::kNewArray, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void, _ZdlPvmSt11align_val_t, (void* p, size_t, size_t alignment)) {
  delete_aligned_from(p, alignment, HeapCall::kNew, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void, _ZdaPvmSt11align_val_t, (void* p, size_t, size_t alignment)) {
  delete_aligned_from(p, alignment, HeapCall::kNewArray, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void, _ZdlPvSt11align_val_tRKSt9nothrow_t, (void* p, size_t alignment, const void*)) {
  delete_aligned_from(p, alignment, HeapCall::kNew, DURESS_CALLER_PC);
}
DURESS_OPERATOR(void, _ZdaPvSt11align_val_tRKSt9nothrow_t, (void* p, size_t alignment, const void*)) {
  delete_aligned_from(p, alignment, HeapCall::kNewArray, DURESS_CALLER_PC);
}
