// SPDX-License-Identifier: Apache-2.0
#include "cli/stop.h"

#include <signal.h>

namespace duress::cli {

std::atomic<bool> stop_asked{false};

void catch_signals(bool once) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{}, old{};
    action.sa_handler = [](int) { stop_asked = true; };
    // A second Ctrl-C. timeout(1) sends SIGTERM twice, to us and to our process group.
    bool resets = once && signal == SIGINT;
    action.sa_flags = SA_RESTART | (resets ? static_cast<int>(SA_RESETHAND) : 0);
    sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup stays nohup
  }
}

}  // namespace duress::cli
