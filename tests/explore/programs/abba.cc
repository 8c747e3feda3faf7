// SPDX-License-Identifier: Apache-2.0
//
// Two transfers in opposite directions take the two accounts' locks in opposite order.
//
// EXPECT-FAILURE: deadlock
// SUITE: fast
#include <mutex>
#include <thread>

struct Account {
  std::mutex lock;
  int balance = 100;
};

void transfer(Account& from, Account& to, int amount) {
  std::lock_guard first(from.lock);
  std::lock_guard second(to.lock);
  from.balance -= amount;
  to.balance += amount;
}

int main() {
  Account a, b;
  std::thread there([&] { transfer(a, b, 10); });
  std::thread back([&] { transfer(b, a, 20); });
  there.join();
  back.join();
}
