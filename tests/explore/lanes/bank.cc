// SPDX-License-Identifier: Apache-2.0
//
// Money is lost: each thread reads the balance and writes it in two critical sections. Nothing races, so no access
// to a balance is a step.
#include <memory>
#include <mutex>
#include <thread>

struct Account {
  std::mutex mutex;
  int balance = 100;
};

static void take(Account& account, int amount) {
  int seen;
  {
    std::lock_guard<std::mutex> guard(account.mutex);
    seen = account.balance;
  }
  std::lock_guard<std::mutex> guard(account.mutex);
  account.balance = seen - amount;
}

int main() {
  auto account = std::make_unique<Account>();
  std::thread first([&] { take(*account, 10); }), second([&] { take(*account, 20); });
  first.join();
  second.join();
  return account->balance == 70 ? 0 : 1;
}
