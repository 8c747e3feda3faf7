// SPDX-License-Identifier: Apache-2.0
//
// A consumer waits for items on a condition. It looks without the lock; or does not look again after it woke,
// although another consumer came first; or all is right.
//
// BUG wakeup_lost: -DUNLOCKED_LOOK -DCONSUMERS=1
// BUG wakeup_stolen: -DNO_LOOP -DCONSUMERS=2
// BUG wakeup_one_for_all: -DNOTIFY_ONCE -DCONSUMERS=2
// CORRECT wakeup_right: -DCONSUMERS=2
#include "parallel.h"

static std::mutex mutex;
static std::condition_variable ready;
static std::atomic<int> items;

static void consume() {
#ifdef UNLOCKED_LOOK
  if (items == 0) {
    std::unique_lock lock(mutex);
    ready.wait(lock);
  }
  --items;
#else
  std::unique_lock lock(mutex);
#ifdef NO_LOOP
  if (items == 0) ready.wait(lock);
#else
  while (items == 0) ready.wait(lock);
#endif
  assert(items > 0);
  --items;
#endif
}

static void produce() {
#ifdef NOTIFY_ONCE
  // Nobody is told of the second item.
  Guard guard(mutex);
  items += CONSUMERS;
  ready.notify_one();
#else
  for (int i = 0; i < CONSUMERS; ++i) {
    Guard guard(mutex);
    ++items;
    ready.notify_one();
  }
#endif
}

int main() {
  in_parallel_each(CONSUMERS + 1, [](int i) { i < CONSUMERS ? consume() : produce(); });
}
