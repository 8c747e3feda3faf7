// SPDX-License-Identifier: Apache-2.0
//
// A mutex of one word with futex system calls, as in "Futexes are tricky".
//
// EXPECT-NO-RACE
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

class FutexMutex {
 public:
  void lock() {
    int seen = 0;
    if (word_.compare_exchange_strong(seen, 1, std::memory_order_acquire)) return;
    if (seen != 2) seen = word_.exchange(2, std::memory_order_acquire);
    while (seen != 0) {
      syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, 2, nullptr, nullptr, 0);
      seen = word_.exchange(2, std::memory_order_acquire);
    }
  }
  void unlock() {
    if (word_.fetch_sub(1, std::memory_order_release) != 1) {
      word_.store(0, std::memory_order_release);
      syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
  }

 private:
  std::atomic<int> word_{0};
};

FutexMutex mutex;
int data = 0;

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([] {
      for (int i = 0; i < 500; i++) {
        mutex.lock();
        data++;
        mutex.unlock();
      }
    });
  for (auto& thread : threads) thread.join();
  return data == 1500 ? 0 : 1;
}
