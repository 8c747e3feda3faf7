// SPDX-License-Identifier: Apache-2.0
//
// What is tested is not true any more when it is used: both accesses have to be one critical section, with the
// mutex that deposit() holds.
//
// FIX: hold
#include <cassert>
#include <mutex>
#include <thread>

struct Account {
  std::mutex mutex;
  int balance = 3;

  void deposit(int amount) {
    std::lock_guard guard(mutex);
    balance += amount;
  }

  bool withdraw(int amount) {
    if (balance >= amount) {
      balance -= amount;
      return true;
    }
    return false;
  }
};

int main() {
  Account account;
  std::thread one([&] { account.deposit(1); });
  std::thread two([&] { account.withdraw(3); });
  account.withdraw(2);
  one.join();
  two.join();
  assert(account.balance >= 0 && account.balance <= 2);
}
