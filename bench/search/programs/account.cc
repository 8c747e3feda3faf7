// SPDX-License-Identifier: Apache-2.0
//
// A balance is read under a lock and written under it, but not in one piece.
//
// BUG account: -DLOCKS_EACH
// CORRECT account_locked: -DLOCKS_ONCE
#include "parallel.h"

static std::mutex mutex;
static int balance = 100;

static void add(int amount) {
#ifdef LOCKS_EACH
  mutex.lock();
  int now = balance;
  mutex.unlock();
  mutex.lock();
  balance = now + amount;
  mutex.unlock();
#else
  Guard guard(mutex);
  balance += amount;
#endif
}

int main() {
  in_parallel([] { add(50); }, [] { add(-30); });
  assert(balance == 120);
}
