// SPDX-License-Identifier: Apache-2.0
//
// Functions of the C library as instrumented code calls them: __duress_lib_<name>, made of the table
// include/duress/library_calls.def. Each makes the real call and says what it accesses.
//
// Why not symbols of the functions' own names: a program that nobody watches would go through them too, and
// so would this runtime, libraries that are not instrumented, and the C library's start.
#include "duress/hooks.h"
#include "duress/library_types.h"
#include "runtime/interceptors/library_access.h"
#include "runtime/interceptors/library_imports.h"
#include "runtime/interceptors/object.h"

using namespace duress;

#define UNPACK(...) __VA_ARGS__
#define READS(p, bytes) access.reads(p, bytes)
#define WRITES(p, bytes) access.writes(p, bytes)
#define SENDS(file) access.sends(file)
#define FLUSHES(file) access.flushes(file)
#define RECEIVES(file) access.receives(file)
#define CLOSES(file) access.closes(file)
#define NUMBER_END()                      \
  char* stop = nullptr;                   \
  const bool end_wanted = end != nullptr; \
  if (!end) end = &stop
#define NUMBER_READ(s) number_read(access, s, end, end_wanted)
#define LINE_BUFFER()        \
  READS(line, sizeof *line); \
  READS(n, sizeof *n);       \
  const LineBuffer had = {*line, *n}
#define LINE_READ(length) line_read(access, had, line, n, length)
#define PRINTS(format) access.prints(format, list)
#define KEEP_LIST() \
  va_list kept;     \
  va_copy(kept, list)
#define SCANNED(format, assigned) access.scanned(format, kept, assigned), va_end(kept)

#define HOOK DURESS_LIBRARY_HOOK
#define REAL(result, name, parameters) extern "C" result duress_real_##name parameters __asm__(#name)

#define DURESS_LIBRARY_CALL(result_type, name, parameters, arguments, before, ...)         \
  REAL(result_type, name, parameters);                                                     \
  HOOK result_type __duress_lib_##name(const DuressSite* duress_site, UNPACK parameters) { \
    [[maybe_unused]] LibraryAccess access(duress_site, DURESS_CALLER_PC);                  \
    before;                                                                                \
    result_type result = duress_real_##name arguments;                                     \
    __VA_ARGS__;                                                                           \
    return result;                                                                         \
  }
#define DURESS_LIBRARY_PURE(result_type, name, parameters, arguments, before, ...)         \
  REAL(result_type, name, parameters);                                                     \
  HOOK result_type __duress_lib_##name(const DuressSite* duress_site, UNPACK parameters) { \
    LibraryAccess access(duress_site, DURESS_CALLER_PC);                                   \
    before;                                                                                \
    result_type result = duress_real_##name arguments;                                     \
    __VA_ARGS__;                                                                           \
    return access.is_point() ? duress_real_##name arguments : result;                      \
  }
// As the C++ library calls it.
#define CXX_CALL(result_type, name, parameters, arguments, before, ...)                     \
  static result_type cxx_##name parameters {                                                \
    uptr caller = awake() ? instrumented_caller(DURESS_CALLER_PC, DURESS_CALLER_FRAME) : 0; \
    if (!caller) return duress_real_##name arguments;                                       \
    LibraryAccess access(nullptr, caller);                                                  \
    before;                                                                                 \
    result_type result = duress_real_##name arguments;                                      \
    __VA_ARGS__;                                                                            \
    return result;                                                                          \
  }
#define DURESS_LIBRARY_CALL_CXX(...) \
  DURESS_LIBRARY_CALL(__VA_ARGS__)   \
  CXX_CALL(__VA_ARGS__)
#define DURESS_LIBRARY_PURE_CXX(...) \
  DURESS_LIBRARY_PURE(__VA_ARGS__)   \
  CXX_CALL(__VA_ARGS__)
#define DURESS_LIBRARY_PROCEDURE(name, parameters, arguments, ...)                  \
  REAL(void, name, parameters);                                                     \
  HOOK void __duress_lib_##name(const DuressSite* duress_site, UNPACK parameters) { \
    LibraryAccess access(duress_site, DURESS_CALLER_PC);                            \
    __VA_ARGS__;                                                                    \
    duress_real_##name arguments;                                                   \
  }
// The function with a va_list may be a row of its own or not, with parameters of the same types.
#define DURESS_LIBRARY_FORMAT(result_type, name, parameters, last, real, arguments, before, ...) \
  HOOK result_type __duress_lib_##name(const DuressSite* duress_site, UNPACK parameters, ...) {  \
    LibraryAccess access(duress_site, DURESS_CALLER_PC);                                         \
    using Real = result_type(UNPACK parameters, va_list);                                        \
    extern Real duress_listed_##name __asm__(#real);                                             \
    va_list list;                                                                                \
    va_start(list, last);                                                                        \
    before;                                                                                      \
    result_type result = duress_listed_##name arguments;                                         \
    va_end(list);                                                                                \
    __VA_ARGS__;                                                                                 \
    return result;                                                                               \
  }
#define DURESS_LIBRARY_ELSEWHERE(...)

#include "duress/library_calls.def"

#undef DURESS_LIBRARY_CALL
#undef DURESS_LIBRARY_CALL_CXX
#undef DURESS_LIBRARY_PURE
#undef DURESS_LIBRARY_PURE_CXX
#undef DURESS_LIBRARY_PROCEDURE
#undef DURESS_LIBRARY_FORMAT
#define DURESS_LIBRARY_CALL(...)
#define DURESS_LIBRARY_PURE(...)
#define DURESS_LIBRARY_CALL_CXX(result, name, ...) {#name, reinterpret_cast<void*>(&cxx_##name)},
#define DURESS_LIBRARY_PURE_CXX DURESS_LIBRARY_CALL_CXX
#define DURESS_LIBRARY_PROCEDURE(...)
#define DURESS_LIBRARY_FORMAT(...)

namespace duress {

void library_calls_ready() {
  static const LibraryImport imports[] = {
#include "duress/library_calls.def"
  };
  redirect_imports(imports, sizeof imports / sizeof *imports);
}

}  // namespace duress
