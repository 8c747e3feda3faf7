// SPDX-License-Identifier: Apache-2.0
//
// No data race: every access is under the lock. But the check and the withdrawal are two critical sections,
// and what was checked may have changed.
//
// EXPECT-FAILURE: assertion
#include <cassert>
#include <mutex>
#include <thread>

class Account {
 public:
  int balance() {
    std::lock_guard guard(lock_);
    return balance_;
  }
  void withdraw(int amount) {
    std::lock_guard guard(lock_);
    balance_ -= amount;
    assert(balance_ >= 0);
  }

 private:
  std::mutex lock_;
  int balance_ = 100;
};

int main() {
  Account account;
  auto spend = [&] {
    if (account.balance() >= 80) account.withdraw(80);
  };
  std::thread first(spend), second(spend);
  first.join();
  second.join();
}
