// SPDX-License-Identifier: Apache-2.0
//
// A crash of the closure ends the process: all that can be done is to print the token that replays it.
#pragma once

#include <signal.h>

namespace duress {

/// Handles the signals of crashes while it lives.
class CrashHandlers {
 public:
  CrashHandlers();
  ~CrashHandlers();
  CrashHandlers(const CrashHandlers&) = delete;
  CrashHandlers& operator=(const CrashHandlers&) = delete;

 private:
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  static constexpr int kCount = 5;
  struct sigaction before_[kCount];
};

}  // namespace duress
