// SPDX-License-Identifier: Apache-2.0
//
// Looking up real functions. dlsym takes the loader's lock and may allocate, so it is best done early:
// interceptors_ready() does all of it when the runtime wakes. The malloc family never comes here (heap.cc).
#include "runtime/interceptors/real.h"

#include <dlfcn.h>
#include <errno.h>

#include "base/raw.h"

extern "C" {
// Made by the linker around the section's entries; absent if a target is linked without interceptors.
extern duress::RealFunction __start_duress_reals[] __attribute__((weak, visibility("hidden")));
extern duress::RealFunction __stop_duress_reals[] __attribute__((weak, visibility("hidden")));
}

namespace duress {

__attribute__((weak)) void heap_ready();  // heap.cc; absent with a sanitizer's allocator

namespace {

constexpr int kInternalError = 125;

void* look_up(const RealFunction& function) {
  if (function.sanitizer) return reinterpret_cast<void*>(function.sanitizer);
  void* p = nullptr;
  if (function.version) p = dlvsym(RTLD_NEXT, function.name, function.version);
  if (!p) p = dlsym(RTLD_NEXT, function.name);
  return p;
}

/// A C program may load a library that brings the C++ library along: what that defines is found only from
/// there.
void* look_up_from(const RealFunction& function, void* caller) {
  Dl_info info;
  if (!dladdr(caller, &info) || !info.dli_fname) return nullptr;
  void* module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!module) return nullptr;
  void* p = dlsym(module, function.name);
  dlclose(module);  // the caller runs in it: it stays
  return p;
}

size_t length(const char* s) {
  size_t n = 0;
  while (s[n]) ++n;
  return n;
}

thread_local int thread_number_cache = 0;

}  // namespace

void* find_real(RealFunction& function, void* caller) {
  int saved = errno;
  void* p = look_up(function);
  if (!p) p = look_up_from(function, caller);
  if (!p) {
    const char text[] = "duress: no library has the function ";
    write_all(2, text, sizeof text - 1);
    write_all(2, function.name, length(function.name));
    write_all(2, "\n", 1);
    exit_process(kInternalError);
  }
  function.address.store(p, std::memory_order_relaxed);
  errno = saved;
  return p;
}

int own_thread_number() {
  if (DURESS_UNLIKELY(thread_number_cache == 0)) thread_number_cache = thread_number();
  return thread_number_cache;
}

void set_own_thread_number(int number) {
  thread_number_cache = number;
}

void forget_own_thread_number() {
  thread_number_cache = 0;
}

void lock_interceptor_tables() {
  lock_thread_handles();
  lock_barriers();
}

void unlock_interceptor_tables() {
  unlock_barriers();
  unlock_thread_handles();
}

void interceptors_ready() {
  int saved = errno;
  for (RealFunction* f = __start_duress_reals; f < __stop_duress_reals; ++f) {
    // One that this C library lacks stays unknown: nobody can call it.
    if (void* p = look_up(*f)) f->address.store(p, std::memory_order_relaxed);
  }
  if (heap_ready) heap_ready();
  prepare_threads();
  prepare_fork();
  library_calls_ready();
  errno = saved;
}

}  // namespace duress
