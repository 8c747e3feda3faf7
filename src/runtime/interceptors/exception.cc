// SPDX-License-Identifier: Apache-2.0
//
// Exceptions that threads share through std::exception_ptr, as futures do. The object is counted inside the
// C++ library, which is not instrumented: the thread that drops the last reference destroys it, ordered after
// all others by atomics that are not observed. So the functions that drop a reference release to the object
// and acquire from it, as their atomic decrement does. Acquire comes before the real call, because the
// destructor runs inside; a thread that drops its reference between our acquire and our decrement is missed
// (a few nanoseconds).
//
// The layouts are libstdc++'s, of the Itanium C++ ABI; exceptions of another kind are left alone.
#include <unwind.h>

#include "runtime/interceptors/real.h"

extern "C" {
struct EhGlobals {
  char* caught;  // the header of the exception that the innermost handler handles
  unsigned uncaught;
};
EhGlobals* __cxa_get_globals_fast() __attribute__((weak));  // absent in C programs
}

namespace duress {
namespace {

constexpr size_t kHeaderSize = 112;  // of __cxa_exception: the object lies behind it
constexpr size_t kClassOffset = kHeaderSize - sizeof(_Unwind_Exception);
constexpr size_t kCountOffset = 128;      // of the reference count, before the object
constexpr u64 kClass = 0x474e5543432b2b;  // "GNUCC++"; the last byte says which kind
constexpr u8 kPrimary = 0, kDependent = 1;
static_assert(sizeof(_Unwind_Exception) == 32 && sizeof(void*) == 8);

/// The object of the exception that is being handled, or null.
const char* handled_object() {
  if (!__cxa_get_globals_fast) return nullptr;
  char* header = __cxa_get_globals_fast()->caught;
  if (!header) return nullptr;
  u64 kind = *reinterpret_cast<u64*>(header + kClassOffset);
  if (kind >> 8 != kClass) return nullptr;
  if (static_cast<u8>(kind) == kPrimary) return header + kHeaderSize;
  // One that was thrown again from an exception_ptr refers to the first.
  return static_cast<u8>(kind) == kDependent ? *reinterpret_cast<char**>(header) : nullptr;
}

void dropping(const char* object, uptr pc) {
  int count = __atomic_load_n(reinterpret_cast<const int*>(object - kCountOffset), __ATOMIC_RELAXED);
  if (count > 1) sync_release_join(object, pc);  // else nobody is left to see it
  sync_acquire(object, pc);
}

}  // namespace
}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(void, __cxa_end_catch, ()) {
  if (awake()) {
    if (const char* object = handled_object()) dropping(object, DURESS_CALLER_PC);
  }
  DURESS_REAL(__cxa_end_catch)();
}

/// std::exception_ptr::_M_release(): the pointer's only member is the object's address.
DURESS_INTERCEPTOR(void, _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv, (const char** pointer)) {
  if (awake() && *pointer) dropping(*pointer, DURESS_CALLER_PC);
  DURESS_REAL(_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv)(pointer);
}
