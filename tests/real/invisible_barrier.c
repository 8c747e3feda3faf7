// SPDX-License-Identifier: Apache-2.0
// The barrier that ThreadSanitizer's tests order their threads with: no detector may see it, or the races that the tests are about would
// be ordered. Duress is told to leave these functions alone, as an author would say it, so they are no unseen locks either.
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNSEEN __attribute__((disable_sanitizer_instrumentation))

// One word: how many threads meet in the low ten bits, how many have come above it.
enum { kCountBits = 10, kCountMask = (1 << kCountBits) - 1 };

UNSEEN void __tsan_testonly_barrier_init(unsigned* barrier, unsigned count) {
  *barrier = count;
}

UNSEEN void __tsan_testonly_barrier_wait(unsigned* barrier) {
  unsigned before = __atomic_fetch_add(barrier, 1U << kCountBits, __ATOMIC_SEQ_CST);
  unsigned count = before & kCountMask;
  unsigned round = (before >> kCountBits) / count;
  for (;;) {
    unsigned now = __atomic_load_n(barrier, __ATOMIC_SEQ_CST);
    if ((now >> kCountBits) / count != round) break;
    syscall(SYS_futex, barrier, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
  }
  syscall(SYS_futex, barrier, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
