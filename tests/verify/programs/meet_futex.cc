// SPDX-License-Identifier: Apache-2.0
//
// A futex by hand. The flag is set before the thread looks; between its look and its call, which then does
// not wait; or while it waits. Under rc11 there is one more: a futex orders nothing, and the flag is relaxed,
// so the thread that was woken may read 0 again; its second call finds 1, for the kernel compares with the
// newest.
//
// EXPECT-VERIFY: 3 none
// VERIFY-RC11: 4
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

std::atomic<int> flag = 0;

int main() {
  std::thread other([] {
    flag.store(1, std::memory_order_relaxed);
    syscall(SYS_futex, &flag, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  });
  while (flag.load(std::memory_order_relaxed) == 0)
    syscall(SYS_futex, &flag, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
  other.join();
}
