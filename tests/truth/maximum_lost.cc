// SPDX-License-Identifier: Apache-2.0
//
// The greatest of all numbers, compared and stored without a lock.
//
// truth: greatest destructive exit:1: the smaller number may be stored after the greater one
#include <thread>

int greatest = 0;

void offer(int number) {
  if (number > greatest) greatest = number;
}

int main() {
  std::thread first(offer, 3), second(offer, 8);
  first.join();
  second.join();
  return greatest == 8 ? 0 : 1;
}
