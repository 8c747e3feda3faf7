// SPDX-License-Identifier: Apache-2.0
//
// std::counting_semaphore and std::binary_semaphore hand plain data back and forth.
//
// EXPECT-NO-RACE
#include <semaphore>
#include <thread>

std::counting_semaphore<8> filled(0);
std::binary_semaphore taken(1);
int data = 0;

int main() {
  long sum = 0;
  std::thread producer([] {
    for (int i = 1; i <= 200; i++) {
      taken.acquire();
      data = i;
      filled.release();
    }
  });
  for (int i = 1; i <= 200; i++) {
    filled.acquire();
    sum += data;
    taken.release();
  }
  producer.join();
  return sum == 200 * 201 / 2 ? 0 : 1;
}
