// SPDX-License-Identifier: Apache-2.0
//
// `--format tsan`: where a report in ThreadSanitizer's format goes.
#ifndef DURESS_CLI_TSAN_OUTPUT_H_
#define DURESS_CLI_TSAN_OUTPUT_H_

#include <string>

namespace duress::cli {

/// log_path of DURESS_OPTIONS, from which it is taken out (it is for us, not for the runtime), or else of
/// TSAN_OPTIONS, as `ctest -T memcheck` sets it; "": none. Call it once, before a target is started.
std::string take_log_path();

/// Writes it to `log_path`.PID, as sanitizers do, or to `fd` if there is no path. "" or what went wrong.
std::string write_tsan(const std::string& text, const std::string& log_path, int fd);

}  // namespace duress::cli

#endif  // DURESS_CLI_TSAN_OUTPUT_H_
