// SPDX-License-Identifier: Apache-2.0
//
// How many bytes functions of the C library access, where that is decided by what is in memory: up to the end
// of a string, the first difference, the character that was looked for. include/duress/library_calls.def uses
// these. What a function reads beyond that for speed (whole vectors) is no access of the program.
#pragma once

#include <ctype.h>
#include <string.h>
#include <wchar.h>

#include "base/types.h"

namespace duress {

inline constexpr size_t kNoLimit = ~size_t{0};

inline size_t string_bytes(const char* s) {
  return strlen(s) + 1;
}
inline size_t string_bytes(const wchar_t* s) {
  return (wcslen(s) + 1) * sizeof *s;
}
inline size_t string_bytes(const char* s, size_t most) {
  size_t n = strnlen(s, most);
  return n < most ? n + 1 : most;
}
inline size_t string_bytes(const wchar_t* s, size_t most) {
  size_t n = wcsnlen(s, most);
  return (n < most ? n + 1 : most) * sizeof *s;
}

/// Up to and with the element that was found.
inline size_t up_to(const void* p, const void* found) {
  return static_cast<size_t>(static_cast<const char*>(found) - static_cast<const char*>(p)) + 1;
}
inline size_t up_to(const char* s, const char* found) {
  return found ? static_cast<size_t>(found - s) + 1 : string_bytes(s);
}
inline size_t up_to(const wchar_t* s, const wchar_t* found) {
  return found ? (static_cast<size_t>(found - s) + 1) * sizeof *s : string_bytes(s);
}
/// Up to the end of the part that was found; nothing of a string in which nothing was looked for.
template <typename Char>
size_t up_to_part(const Char* s, const Char* found, const Char* part) {
  size_t part_bytes = string_bytes(part) - sizeof *part;
  if (part_bytes == 0) return 0;
  return found ? static_cast<size_t>(found - s) * sizeof *s + part_bytes : string_bytes(s);
}

/// Bytes that a comparison looks at: up to the first difference or the end, of at most `most` elements.
template <typename Char>
size_t compared(const Char* a, const Char* b, size_t most) {
  size_t n = 0;
  while (n < most && a[n] == b[n] && a[n] != 0) ++n;
  return (n < most ? n + 1 : most) * sizeof *a;
}
inline size_t compared_letters(const char* a, const char* b, size_t most) {
  auto lower = [](char c) { return tolower(static_cast<unsigned char>(c)); };
  size_t n = 0;
  while (n < most && lower(a[n]) == lower(b[n]) && a[n] != 0) ++n;
  return n < most ? n + 1 : most;
}
inline size_t same_bytes(const void* a, const void* b, size_t most) {
  const auto* x = static_cast<const char*>(a);
  const auto* y = static_cast<const char*>(b);
  size_t n = 0;
  for (u64 v, w; n + sizeof v <= most; n += sizeof v) {
    __builtin_memcpy(&v, x + n, sizeof v);
    __builtin_memcpy(&w, y + n, sizeof w);
    if (v != w) break;
  }
  while (n < most && x[n] == y[n]) ++n;
  return n < most ? n + 1 : most;
}
inline size_t same_characters(const wchar_t* a, const wchar_t* b, size_t most) {
  size_t n = 0;
  while (n < most && a[n] == b[n]) ++n;
  return (n < most ? n + 1 : most) * sizeof *a;
}

/// A decimal number and the character that ends it.
inline size_t integer_bytes(const char* s) {
  size_t n = 0;
  while (isspace(static_cast<unsigned char>(s[n]))) ++n;
  if (s[n] == '-' || s[n] == '+') ++n;
  while (s[n] >= '0' && s[n] <= '9') ++n;
  return n + 1;
}

/// What printf wrote, with the 0 at its end, into `room` bytes.
inline size_t printed_bytes(int result, size_t room) {
  if (result < 0 || room == 0) return 0;
  auto n = static_cast<size_t>(result);
  return n < room ? n + 1 : room;
}

}  // namespace duress
