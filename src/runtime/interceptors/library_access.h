// SPDX-License-Identifier: Apache-2.0
//
// What one call of a C library function accesses, as the rows of include/duress/library_calls.def say it.
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "duress/hooks.h"
#include "runtime/interceptors/library_extents.h"
#include "runtime/interceptors/real.h"

/// A function that instrumented code calls in place of one of the C library's.
#define DURESS_LIBRARY_HOOK extern "C" __attribute__((visibility("default")))

namespace duress {

class LibraryAccess {
 public:
  /// `site` is the call's, or null if it is not of instrumented code; `pc` is where it returns to.
  LibraryAccess(const DuressSite* site, uptr pc) : site_(site), pc_(pc) {}

  /// Whether telling an access may have let other threads go on: what was read before it is old.
  bool is_point() const { return site_ && awake() && (site_->flags & DURESS_SITE_FAITHFUL) != 0; }

  void reads(const void* p, size_t bytes) const { accessed(p, bytes, false); }
  void writes(const void* p, size_t bytes) const { accessed(p, bytes, true); }

  /// The arguments of printf and scanf, as the format names them (library_formats.cc). What cannot be
  /// understood ends it: arguments by number, conversions of other libraries.
  void prints(const char* format, va_list list) const;
  /// `assigned`: what scanf returned. A %n counts only if something was assigned after it.
  void scanned(const char* format, va_list list, int assigned) const;

  void sends(FILE* file) const;
  void flushes(FILE* file) const;
  void receives(FILE* file) const;
  void closes(FILE* file) const;
  void sends_fd(int fd) const;

 private:
  void accessed(const void* p, size_t bytes, bool write) const {
    if (!p || !bytes || !awake()) return;
    if (site_) {
      library_accessed(p, bytes, write, site_);
    } else {
      memory_accessed(p, bytes, write, pc_);
    }
  }

  const DuressSite* site_;
  uptr pc_;
};

/// strtok_r and strsep: the text up to the end of the token; the 0 that ends it is written unless the string
/// ended there. `rest` is where the next call goes on.
inline void token_accessed(const LibraryAccess& access, const char* from, const char* token,
                           const char* rest) {
  if (!token || !from) return;
  const char* end = token + strlen(token);
  access.reads(from, up_to(static_cast<const void*>(from), end));
  if (rest == end + 1) access.writes(end, 1);
}

/// strtol and the like: a number and the character behind it. `end_wanted`: by the caller.
inline void number_read(const LibraryAccess& access, const char* s, char** end, bool end_wanted) {
  access.reads(s, up_to(static_cast<const void*>(s), *end));
  if (end_wanted) access.writes(end, sizeof *end);
}

/// getline: the block that it was given, and what has become of it.
struct LineBuffer {
  char* line;
  size_t room;
};
inline void line_read(const LibraryAccess& access, LineBuffer had, char** line, const size_t* room,
                      ssize_t length) {
  if (*line != had.line) access.writes(line, sizeof *line);
  if (*room != had.room) access.writes(room, sizeof *room);
  if (length >= 0) access.writes(*line, static_cast<size_t>(length) + 1);
}

}  // namespace duress
