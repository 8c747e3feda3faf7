// SPDX-License-Identifier: Apache-2.0
//
// Four threads pass one after the other, by number, and share one condition variable. With notify_one the
// wake-up may go to a thread whose turn it is not.
//
// BUG turnstile: -DNOTIFY=notify_one
// CORRECT turnstile_all: -DNOTIFY=notify_all
#include "../programs/parallel.h"

static std::mutex mutex;
static std::condition_variable changed;
static int next_in_line;

int main() {
  in_parallel_each(4, [](int me) {
    std::unique_lock<std::mutex> lock(mutex);
    while (next_in_line != me) changed.wait(lock);
    ++next_in_line;
    changed.NOTIFY();
  });
}
