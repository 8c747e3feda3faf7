// SPDX-License-Identifier: Apache-2.0
//
// The part of the stubs (stub.cc) for calls of C library functions: each is the function itself.
#include "duress/hooks.h"
#include "duress/library_types.h"

#define UNPACK(...) __VA_ARGS__
#define HOOK extern "C" __attribute__((weak, visibility("default")))

#define DURESS_LIBRARY_CALL(result, name, parameters, arguments, ...)     \
  extern "C" result duress_real_##name parameters __asm__(#name);         \
  HOOK result __duress_lib_##name(const DuressSite*, UNPACK parameters) { \
    return duress_real_##name arguments;                                  \
  }
#define DURESS_LIBRARY_CALL_CXX DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_ELSEWHERE DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_PURE DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_PURE_CXX DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_PROCEDURE(name, parameters, arguments, ...)      \
  extern "C" void duress_real_##name parameters __asm__(#name);         \
  HOOK void __duress_lib_##name(const DuressSite*, UNPACK parameters) { \
    duress_real_##name arguments;                                       \
  }
#define DURESS_LIBRARY_FORMAT(result_type, name, parameters, last, real, arguments, ...) \
  HOOK result_type __duress_lib_##name(const DuressSite*, UNPACK parameters, ...) {      \
    using Real = result_type(UNPACK parameters, va_list);                                \
    extern Real duress_listed_##name __asm__(#real);                                     \
    va_list list;                                                                        \
    va_start(list, last);                                                                \
    result_type result = duress_listed_##name arguments;                                 \
    va_end(list);                                                                        \
    return result;                                                                       \
  }

#include "duress/library_calls.def"
