// SPDX-License-Identifier: Apache-2.0
//
// std::binary_semaphore as a signal from one thread to another.
//
// EXPECT-VERIFY: * none
// VERIFY-RC11: *
#include <semaphore>
#include <thread>

std::binary_semaphore there(0);
int value = 0;

int main() {
  std::thread other([] {
    value = 1;
    there.release();
  });
  there.acquire();
  int seen = value;
  other.join();
  return seen == 1 ? 0 : 1;
}
