// SPDX-License-Identifier: Apache-2.0
//
// std::atomic::wait and notify: the value that is loaded carries the order.
//
// EXPECT-NO-RACE
#include <atomic>
#include <thread>

std::atomic<int> turn = 0;
std::atomic<char> small = 0;
int data = 0;

int main() {
  std::thread other([] {
    for (int i = 0; i < 50; i++) {
      turn.wait(2 * i);
      data++;
      turn.store(2 * i + 2);
      turn.notify_one();
    }
    small = 1;
    small.notify_all();
  });
  for (int i = 0; i < 50; i++) {
    data++;
    turn.store(2 * i + 1);
    turn.notify_one();
    turn.wait(2 * i + 1);
  }
  small.wait(0);
  data++;
  other.join();
  return data == 101 ? 0 : 1;
}
