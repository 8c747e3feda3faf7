// SPDX-License-Identifier: Apache-2.0
//
// Tutorial, atomicity violation: Update and Withdraw read and write the balance with no lock.
//
// EXPECT-RACE: Bank::balance
#include <thread>

#include "invisible_barrier.h"

class Bank {
 public:
  void update(int a) {
    int t = balance;
    balance = t + a;
  }
  void withdraw(int a) {
    int t = balance;
    balance = t - a;
  }
  int balance = 100;
};

Bank bank;
int updated = 0;

int main() {
  std::thread first([] {
    invisible_start(2);
    bank.update(50);
    invisible_signal(&updated);
  });
  std::thread second([] {
    invisible_start(2);
    invisible_wait(&updated, 1);
    bank.withdraw(30);
  });
  first.join();
  second.join();
  return bank.balance == 120 ? 0 : 1;
}
