// SPDX-License-Identifier: Apache-2.0
//
// Threads started by a constructor before main, joined before main; and by a destructor after it.
//
// EXPECT-NO-RACE
#include <cstdlib>
#include <thread>

int data = 0;

struct Early {
  Early() {
    std::thread thread([] { data++; });
    thread.join();
    data++;
  }
  ~Early() {
    std::thread thread([] { data++; });
    thread.join();
    if (data != 4) std::_Exit(1);
  }
} early;

int main() {
  data++;
  return data == 3 ? 0 : 1;
}
