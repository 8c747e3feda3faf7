// SPDX-License-Identifier: Apache-2.0
//
// What comes before a handler is installed happens before every run of it, on whatever thread: programs set
// up what a handler needs and then call sigaction. The kernel says nothing when a handler begins, so one of
// ours stands for it, learns, and calls it. The program never sees ours: what it asks for is what it gave.
#include <errno.h>

#include "runtime/interceptors/real.h"
#include "runtime/interceptors/signals.h"

namespace duress {
namespace {

using Handler = void(int, siginfo_t*, void*);

struct Installed {
  std::atomic<Handler*> handler;
  std::atomic<bool> wants_info;  // SA_SIGINFO
};
constinit Installed installed[kMostSignals + 1] = {};

/// x86-64 passes all three arguments to every handler; one that takes the number alone ignores the others.
void run(int signal, siginfo_t* info, void* context) {
  handler_begins(signal);
  installed[signal].handler.load(std::memory_order_acquire)(signal, info, context);
}

Handler* with_info(sighandler_t handler) {
  struct sigaction action = {};
  action.sa_handler = handler;
  return action.sa_sigaction;
}

sighandler_t without_info(Handler* handler) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  return action.sa_handler;
}

bool is_function(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN && action.sa_handler != SIG_ERR;
}

}  // namespace

void handler_installed(int signal, uptr pc) {
  sync_release_join(&installed[signal], pc);
}

void handler_begins(int signal) {
  sync_acquire(&installed[signal], 0);
}

int install_ordered(int signal, const struct sigaction* action, struct sigaction* old, RealSigaction* real,
                    uptr pc) {
  Installed& place = installed[signal];
  Handler* previous = place.handler.load(std::memory_order_acquire);
  bool previous_info = place.wants_info.load(std::memory_order_relaxed);
  struct sigaction before = {}, ours;
  int result;
  if (!action) {
    result = real(signal, nullptr, &before);
  } else {
    handler_installed(signal, pc);
    ours = *action;
    if (is_function(*action)) {
      place.wants_info.store((action->sa_flags & SA_SIGINFO) != 0, std::memory_order_relaxed);
      place.handler.store(action->sa_sigaction, std::memory_order_release);
      ours.sa_sigaction = run;
      ours.sa_flags |= SA_SIGINFO;
    }
    result = real(signal, &ours, &before);
    if (result != 0 && is_function(*action)) {
      place.handler.store(previous, std::memory_order_release);
      place.wants_info.store(previous_info, std::memory_order_relaxed);
    }
  }
  if (result != 0 || !old) return result;
  *old = before;
  if (before.sa_sigaction == run) {
    old->sa_sigaction = previous;
    if (!previous_info) old->sa_flags &= ~SA_SIGINFO;
  }
  return result;
}

sighandler_t install_ordered(int signal, sighandler_t handler, RealSignal* real, uptr pc) {
  Installed& place = installed[signal];
  Handler* previous = place.handler.load(std::memory_order_acquire);
  handler_installed(signal, pc);
  bool ours = handler != SIG_DFL && handler != SIG_IGN && handler != SIG_ERR;
  if (ours) {
    place.wants_info.store(false, std::memory_order_relaxed);
    place.handler.store(with_info(handler), std::memory_order_release);
  }
  sighandler_t stand_in = without_info(run);
  sighandler_t old = real(signal, ours ? stand_in : handler);
  if (old == SIG_ERR && ours) place.handler.store(previous, std::memory_order_release);
  return old == stand_in ? without_info(previous) : old;
}

}  // namespace duress
