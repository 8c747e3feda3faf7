// SPDX-License-Identifier: Apache-2.0
//
// The mailbox done right, beside a count of looks that both threads keep.
//
// truth: looks harmless: only decoration; the letter itself is handed over by release and acquire
#include <atomic>
#include <thread>

int letter = 0;
std::atomic<bool> full{false};
int looks = 0;

int main() {
  int got = 0;
  std::thread sender([] {
    letter = 17;
    ++looks;
    full.store(true, std::memory_order_release);
    ++looks;
  });
  std::thread receiver([&got] {
    while (!full.load(std::memory_order_acquire)) {
    }
    ++looks;
    got = letter;
  });
  sender.join();
  receiver.join();
  return got == 17 ? 0 : 1;
}
