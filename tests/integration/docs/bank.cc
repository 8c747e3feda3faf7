// SPDX-License-Identifier: Apache-2.0
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
