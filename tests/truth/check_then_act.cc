// SPDX-License-Identifier: Apache-2.0
//
// Who finds the place free takes it.
//
// truth: taken destructive exit:1: both may find it free before either takes it
#include <atomic>
#include <thread>

bool taken = false;
std::atomic<int> owners{0};

void claim() {
  if (taken) return;
  taken = true;
  owners.fetch_add(1);
}

int main() {
  std::thread first(claim), second(claim);
  first.join();
  second.join();
  return owners.load() == 1 ? 0 : 1;
}
