// SPDX-License-Identifier: Apache-2.0
//
// `--format tsan`: where a report in ThreadSanitizer's format goes.
#pragma once

#include <string>

#include "report/document.h"

namespace duress::cli {

class CommandApp;

struct FormatOptions {
  std::string format = "text", log_path;

  /// `what`: is said of tsan beside the format.
  void add_format(CommandApp& app, const char* what = "");
  bool tsan() const { return format == "tsan"; }
  /// Writes the report to the log_path, or to `fd` if there is none. False: a message was printed.
  bool write_tsan(const report::Document& document, int fd) const;
};

/// log_path of DURESS_OPTIONS, from which it is taken out (it is for us, not for the runtime), or else of
/// TSAN_OPTIONS, as `ctest -T memcheck` sets it; "": none. Call it once, before a target is started.
std::string take_log_path();
}  // namespace duress::cli
