// SPDX-License-Identifier: Apache-2.0
//
// Tutorial, atomicity violation: Update and Withdraw read and write the balance with no lock. With an
// argument the update comes first in every run, and the race is there to be seen though the balance is right.
//
// EXPECT-RACE: Bank::balance
// RUN-ARGS: ordered
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

int main(int count, char**) {
  const bool ordered = count > 1;
  std::thread first([=] {
    if (ordered) invisible_start(2);
    bank.update(50);
    if (ordered) invisible_signal(&updated);
  });
  std::thread second([=] {
    if (ordered) invisible_start(2);
    if (ordered) invisible_wait(&updated, 1);
    bank.withdraw(30);
  });
  first.join();
  second.join();
  return bank.balance == 120 ? 0 : 1;
}
