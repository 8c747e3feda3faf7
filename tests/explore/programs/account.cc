// SPDX-License-Identifier: Apache-2.0
//
// An account without a lock: a deposit and a withdrawal read the same balance, and one of them is lost.
//
// EXPECT-FAILURE: assertion
// SUITE: fast
#include <cassert>
#include <thread>

class Account {
 public:
  explicit Account(int balance) : balance_(balance) {}
  void deposit(int amount) { balance_ += amount; }
  void withdraw(int amount) { balance_ -= amount; }
  int balance() const { return balance_; }

 private:
  int balance_;
};

int main() {
  Account account(100);
  std::thread in([&] { account.deposit(50); });
  std::thread out([&] { account.withdraw(30); });
  in.join();
  out.join();
  assert(account.balance() == 120);
}
