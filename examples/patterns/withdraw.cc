// SPDX-License-Identifier: Apache-2.0
//
// Look, then act: both threads may look before either acts, and the account is overdrawn. An optimising
// compiler reads the balance once for both; a race report then names one read, and only who switches between
// the two that the source has sees the harm. No old value is needed for it, the schedule alone does it.
//
// EXPECT-RACE: balance
// EXPECT-VERDICT: balance destructive exit:1
#include <thread>

int balance = 10;

void withdraw(int amount) {
  if (balance >= amount) balance = balance - amount;
}

int main() {
  std::thread other(withdraw, 6);
  withdraw(6);
  other.join();
  return balance == 4 ? 0 : 1;
}
