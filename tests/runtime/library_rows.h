// SPDX-License-Identifier: Apache-2.0
//
// A row of a test is a call of a function of include/duress/library_calls.def and what it must be reported to
// access, no byte more and none less.
#pragma once

#include <duress/hooks.h>
#include <duress/library_types.h>

#include <cstring>
#include <initializer_list>

#include "fake_sync.h"

#define UNPACK(...) __VA_ARGS__
extern "C" {
#define DURESS_LIBRARY_CALL(result, name, parameters, ...) \
  result __duress_lib_##name(const DuressSite* site, UNPACK parameters);
#define DURESS_LIBRARY_CALL_CXX DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_ELSEWHERE DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_PURE DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_PURE_CXX DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_PROCEDURE(name, parameters, ...) \
  void __duress_lib_##name(const DuressSite* site, UNPACK parameters);
#define DURESS_LIBRARY_FORMAT(result, name, parameters, ...) \
  result __duress_lib_##name(const DuressSite* site, UNPACK parameters, ...);
#include <duress/library_calls.def>
#undef DURESS_LIBRARY_CALL
#undef DURESS_LIBRARY_CALL_CXX
#undef DURESS_LIBRARY_ELSEWHERE
#undef DURESS_LIBRARY_PURE
#undef DURESS_LIBRARY_PURE_CXX
#undef DURESS_LIBRARY_PROCEDURE
#undef DURESS_LIBRARY_FORMAT
}

struct Touched {
  const char* how;  // "read", "written", "release_fd", "release_stream", "acquire_fd", "forget_fd"
  const void* where;
  size_t bytes = 0;
};

/// Ends the test if the events since the last row differ; their order does not matter.
void expect_row(const char* name, std::initializer_list<Touched> expected);
/// Ends the test if a function of the table from `first` to `last`, in its order, has had no row.
void expect_all_rows(const char* first, const char* last);

inline Touched reads(const void* p, size_t bytes) {
  return {"read", p, bytes};
}
inline Touched writes(const void* p, size_t bytes) {
  return {"written", p, bytes};
}

/// ROW(strlen, (text), reads(text, 6)): the call's result is the value of the first part.
#define CALL(name, ...) __duress_lib_##name(nullptr, __VA_ARGS__)
#define ROW(name, arguments, ...)       \
  do {                                  \
    fake_clear();                       \
    (void)CALL(name, UNPACK arguments); \
    expect_row(#name, {__VA_ARGS__});   \
  } while (0)
