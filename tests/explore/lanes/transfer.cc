// SPDX-License-Identifier: Apache-2.0
//
// A deadlock of two mutexes that are members of objects.
#include <mutex>
#include <thread>

struct Account {
  std::mutex mutex;
  int balance = 100;
};

static void transfer(Account& from, Account& to) {
  std::lock_guard<std::mutex> one(from.mutex);
  std::lock_guard<std::mutex> other(to.mutex);
  --from.balance;
  ++to.balance;
}

int main() {
  Account a, b;
  std::thread first([&] { transfer(a, b); }), second([&] { transfer(b, a); });
  first.join();
  second.join();
}
