// SPDX-License-Identifier: Apache-2.0
//
// Standing in for a function of the C library needs three things: a definition that every module of the
// process binds to, the function it stands in for, and silence before the runtime is awake. One macro gives
// the first two; the body of each interceptor says the rest.
//
// The definition gets its name through an asm label. A plain definition would have to repeat the exception
// specifications, fortified inlines and 64-bit redirections of the C library's headers, which differ between
// versions. Symbols are weak, so that a target which brings its own daemon() or malloc() keeps it; a
// sanitizer's runtime defines the same names weakly too and comes first on the link line, so for such targets
// the same files are built a second time with DURESS_STRONG_INTERCEPTORS.
//
// The real function is looked up when first needed, or by interceptors_ready(). Two threads may look it up at
// once: both find the same. A sanitizer's version (`__interceptor_<name>`) comes before the C library's.
#pragma once

#include <pthread.h>

#include <atomic>

#include "runtime/sync.h"

namespace duress {

/// What is known about one real function; lies in section `duress_reals` so that all can be walked.
struct RealFunction {
  const char* name;
  const char* version;         // of the symbol; null: the default one
  void (*sanitizer)();         // null: none is linked
  std::atomic<void*> address;  // null: not looked up yet
};

/// Looks the function up; `caller` is in the module that called the interceptor. Ends the process if there is
/// none: then nothing could have called it.
void* find_real(RealFunction& function, void* caller);

template <typename Signature>
__attribute__((always_inline)) inline Signature* real_address(RealFunction& function) {
  void* p = function.address.load(std::memory_order_relaxed);
  if (DURESS_UNLIKELY(!p)) p = find_real(function, __builtin_return_address(0));
  return reinterpret_cast<Signature*>(p);
}

/// The kernel's number of the calling thread, asked for once. Reset in forked children.
int own_thread_number();
void set_own_thread_number(int number);
void forget_own_thread_number();

/// Locks of the interceptors' own tables, held over fork so that the child finds them consistent.
void lock_thread_handles();
void unlock_thread_handles();
void forget_other_threads();  // in a forked child, with the lock held: they are the parent's
void lock_barriers();
void unlock_barriers();
void lock_interceptor_tables();
void unlock_interceptor_tables();

/// The mutex's real functions, for waits on a condition.
int real_mutex_trylock(pthread_mutex_t* mutex);
int real_mutex_unlock(pthread_mutex_t* mutex);
/// fork without any handler: for a process that has one thread and holds no lock. The handlers would touch
/// tables of a megabyte, page by page, in every child.
int fork_alone();
/// pthread_create itself.
int make_real_thread(pthread_t* id, const pthread_attr_t* attributes, void* (*function)(void*),
                     void* argument);
void join_real_thread(pthread_t id);
/// Before the first execution: what the C library and the runtime allocate for the first threads is there
/// before memory is remembered, so that no execution needs to map it. In every controlled process, so that
/// addresses are the same in all of them.
inline constexpr int kWarmThreads = 32;
void warm_up_threads();

/// The key whose destructor ends a thread, the handlers for fork: made once, by interceptors_ready().
void prepare_threads();
void prepare_fork();
/// library_calls.cc: the C++ library's calls that access the program's memory are seen.
void library_calls_ready();

}  // namespace duress

#ifdef DURESS_STRONG_INTERCEPTORS
#define DURESS_INTERCEPTOR_SYMBOL __attribute__((visibility("default"), noinline))
#else
#define DURESS_INTERCEPTOR_SYMBOL __attribute__((visibility("default"), noinline, weak))
#endif

/// DURESS_INTERCEPTOR(int, close, (int fd)) { ... DURESS_REAL(close)(fd) ... }
#define DURESS_INTERCEPTOR(result, name, parameters) DURESS_INTERCEPTOR_OF(result, name, nullptr, parameters)

/// The same, for a function with several versions of which `version` is the one in use.
#define DURESS_INTERCEPTOR_OF(result, name, version, parameters)                                         \
  extern "C" void __interceptor_##name() __attribute__((weak));                                          \
  using Signature_##name = result parameters;                                                            \
  __attribute__((section("duress_reals"), used)) static constinit ::duress::RealFunction real_##name = { \
      #name, version, &__interceptor_##name, {nullptr}};                                                 \
  extern "C" result duress_in_##name parameters __asm__(#name) DURESS_INTERCEPTOR_SYMBOL;                \
  extern "C" result duress_in_##name parameters

#define DURESS_REAL(name) (::duress::real_address<Signature_##name>(real_##name))

/// Runs body(data) and returns what it returns. If an exception or a cancellation leaves it, undo(data) runs
/// on the way out. In C (cleanup.c), because C++ would need its own personality routine, which C programs
/// lack.
extern "C" int duress_with_cleanup(int (*body)(void*), void (*undo)(void*), void* data);
