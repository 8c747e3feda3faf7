// SPDX-License-Identifier: Apache-2.0
//
// One function of a class does not take the mutex that the others take.
//
// FIX: hold
#include <mutex>
#include <thread>

class Account {
 public:
  void deposit(int amount) {
    std::lock_guard<std::mutex> guard(mutex_);
    balance_ += amount;
  }
  int balance() const { return balance_; }

 private:
  mutable std::mutex mutex_;
  int balance_ = 0;
};

int main() {
  Account account;
  std::thread other([&] { account.deposit(5); });
  int seen = account.balance();
  other.join();
  return seen == 0 || seen == 5 ? 0 : 1;
}
