// SPDX-License-Identifier: Apache-2.0
//
// Three threads need two of three permits each, and take them one at a time: if each has one, all wait.
//
// EXPECT-FAILURE: deadlock
#include <semaphore>
#include <thread>

std::counting_semaphore<3> permits{3};

void work() {
  permits.acquire();
  permits.acquire();
  permits.release(2);
}

int main() {
  std::thread first(work), second(work), third(work);
  first.join();
  second.join();
  third.join();
}
