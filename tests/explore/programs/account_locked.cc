// SPDX-License-Identifier: Apache-2.0
//
// The account of account.cc with its lock.
//
// EXPECT-NO-FAILURE
// WITHIN: 300
// SUITE: fast
#include <cassert>
#include <mutex>
#include <thread>

class Account {
 public:
  explicit Account(int balance) : balance_(balance) {}
  void deposit(int amount) { add(amount); }
  void withdraw(int amount) { add(-amount); }
  int balance() const {
    std::lock_guard guard(lock_);
    return balance_;
  }

 private:
  void add(int amount) {
    std::lock_guard guard(lock_);
    balance_ += amount;
  }

  mutable std::mutex lock_;
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
