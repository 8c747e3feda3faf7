// SPDX-License-Identifier: Apache-2.0
//
// A lock that is biased towards its owner: the owner enters without an exclusive operation while nobody has
// revoked the bias. Who revokes it must look whether the owner is inside after that, not before.
//
// BUG biased_early: -DEARLY
// CORRECT biased: -DLATE
#include "../programs/parallel.h"

static std::atomic<bool> revoked, owner_inside;
static std::mutex slow;
static std::atomic<int> inside;

static void critical() {
  assert(inside++ == 0);
  --inside;
}

static void as_owner() {
  for (int round = 0; round < 2; ++round) {
    owner_inside = true;
    if (!revoked) {
      critical();
      owner_inside = false;
      continue;
    }
    owner_inside = false;
    Guard guard(slow);
    critical();
  }
}

static void as_other() {
  Guard guard(slow);
#ifdef EARLY
  while (owner_inside) std::this_thread::yield();
  revoked = true;
#else
  revoked = true;
  while (owner_inside) std::this_thread::yield();
#endif
  critical();
}

int main() {
  in_parallel(as_owner, as_other);
}
