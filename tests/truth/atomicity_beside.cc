// SPDX-License-Identifier: Apache-2.0
//
// A balance that is locked for each access, but not for the whole update; and a counter.
//
// truth: updates harmless beside other: the update is lost without any race, between two critical sections
#include <mutex>
#include <thread>

std::mutex mutex;
int balance = 0;
int updates = 0;

void deposit() {
  int seen;
  {
    std::lock_guard guard(mutex);
    seen = balance;
  }
  ++updates;
  std::lock_guard guard(mutex);
  balance = seen + 1;
}

int main() {
  std::thread first(deposit), second(deposit);
  first.join();
  second.join();
  return balance == 2 ? 0 : 1;
}
