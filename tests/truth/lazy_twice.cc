// SPDX-License-Identifier: Apache-2.0
//
// Lazy creation without a lock, where a second creation is an error.
//
// truth: connection destructive exit:1: both threads may find no connection and open one
#include <atomic>
#include <thread>

std::atomic<int> opened{0};
int sockets[2] = {1, 2};
int* connection = nullptr;

int connect(int self) {
  if (connection == nullptr) {
    opened.fetch_add(1);
    connection = &sockets[self];
  }
  return 0;
}

int main() {
  std::thread first(connect, 0), second(connect, 1);
  first.join();
  second.join();
  return opened.load() == 1 ? 0 : 1;
}
