// SPDX-License-Identifier: Apache-2.0
//
// DURESS_OPTIONS: name=value pairs separated by ':'. A value may contain ':' where what follows is not
// a name and '=' (so `chain=A:B:C` and paths work).
#pragma once

#include "base/arena.h"

namespace duress {

struct Options {
#define DURESS_TEXT(name, default_value, help) const char* name##_ = default_value;
#define DURESS_NUMBER(name, default_value, help) u64 name##_ = default_value;
#include "runtime/options.def"
#undef DURESS_TEXT
#undef DURESS_NUMBER

  /// Reads `text`; values are copied into the arena. On a mistake the process ends with one line and
  /// code 125: nothing can be reported without a log.
  void parse(const char* text, Arena& arena);
  static void print_help();
};

}  // namespace duress
