// SPDX-License-Identifier: Apache-2.0
//
// A field of a heap object is named by its type; the field beside it, under a lock, is not reported.
//
// EXPECT-RACE: Account::balance write-read @deposit @look
// SUITE: fast
#include <mutex>
#include <thread>

#include "invisible_barrier.h"

struct Account {
  std::mutex mutex;
  int owner = 1;
  long balance = 0;
};
int step = 0;

int main() {
  Account* account = new Account;
  long seen = 0;
  std::thread one([account] {
    invisible_start(2);
    account->balance = 100;  // @deposit
    account->mutex.lock();
    account->owner++;
    account->mutex.unlock();
    invisible_signal(&step);
  });
  std::thread two([account, &seen] {
    invisible_start(2);
    invisible_wait(&step, 1);
    seen = account->balance;  // @look
    account->mutex.lock();
    account->owner++;
    account->mutex.unlock();
  });
  one.join();
  two.join();
  delete account;
  return seen == 100 ? 0 : 1;
}
