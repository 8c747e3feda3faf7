// SPDX-License-Identifier: Apache-2.0
//
// One function of four tellers forgets the mutex; 160 calls have more interleavings than can be explored.
//
// FIX: hold
// FIX-SCHEDULES:
#include <mutex>
#include <thread>
#include <vector>

class Bank {
 public:
  void deposit(int amount) {
    std::lock_guard<std::mutex> guard(mutex_);
    total_ += amount;
  }
  void fee() { total_ -= 1; }
  int total() const { return total_; }

 private:
  std::mutex mutex_;
  int total_ = 0;
};

int main() {
  Bank bank;
  std::vector<std::thread> tellers;
  for (int t = 0; t < 4; ++t)
    tellers.emplace_back([&bank] {
      for (int i = 0; i < 20; ++i) bank.deposit(2);
      for (int i = 0; i < 20; ++i) bank.fee();
    });
  for (std::thread& teller : tellers) teller.join();
  return bank.total() == 80 ? 0 : 1;
}
