// SPDX-License-Identifier: Apache-2.0
//
// What a fake target (fake_target.cc) does to its host or to itself before its first step: it is killed,
// gives up, kills its parent, leaves a process behind, floods its output.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "trail/execution.h"

namespace duress::testing {

/// Kills this process as another one would, if this is run number FAKE_TARGET_KILLED or one of the
/// FAKE_TARGET_KILLS - 1 after it. Runs are counted in the file FAKE_TARGET_COUNT.
inline void be_killed(const std::string& what) {
  int count = open(std::getenv("FAKE_TARGET_COUNT"), O_RDWR | O_APPEND | O_CREAT, 0600);
  off_t runs = write(count, "x", 1) == 1 ? lseek(count, 0, SEEK_END) : 0;
  off_t first = std::atoi(std::getenv("FAKE_TARGET_KILLED"));
  if (runs < first || runs >= first + std::atoi(std::getenv("FAKE_TARGET_KILLS"))) return;
  static constexpr int kSignals[] = {SIGKILL, SIGTERM, SIGSEGV};
  int signal = what == "killed" ? kSignals[(runs - first) % 3] : what == "same-death" ? SIGTERM : SIGKILL;
  pid_t victim = what == "server-killed" ? getppid() : getpid();
  pid_t killer = fork();
  if (killer == 0) {
    kill(victim, signal);
    _exit(0);
  }
  pause();
}

inline void echo() {
  char buffer[256];
  for (ssize_t got; (got = read(0, buffer, sizeof buffer)) > 0;) {
    if (write(1, buffer, static_cast<std::size_t>(got)) != got) _exit(1);
  }
}

/// Returns if `what` is something else, or if the target goes on after it.
inline void disturb(const std::string& what, trail::Record& record) {
  for (const char* how : {"killed", "same-death", "kill", "server-killed"}) {
    if (what == how) be_killed(what);
  }
  if (what == "gives-up") {
    std::fputs("duress: out of memory\n", stderr);
    record.tool_failed = 1;
    _exit(125);
  }
  if (what == "kill-parent") kill(getppid(), SIGKILL);
  if (what == "daemon" && fork() == 0) {
    setsid();
    pause();
  }
  if (what == "echo") echo();
  if (what == "megabytes") {
    for (int i = 0; i < 20; ++i) std::fwrite(std::string(1 << 20, 'x').data(), 1, 1 << 20, stdout);
  }
  if (what == "floods-limit") {
    signal(SIGXFSZ, SIG_IGN);  // what does not fit is lost without a word
    for (int i = 0; i < 80; ++i) std::fwrite(std::string(1 << 20, 'x').data(), 1, 1 << 20, stdout);
  }
}

}  // namespace duress::testing
