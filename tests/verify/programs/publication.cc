// SPDX-License-Identifier: Apache-2.0
//
// An object is published before it is set. Run by itself, the second thread nearly always comes too early or
// too late to be seen; of the three interleavings two show the race.
//
// EXPECT-VERIFY: 3 race Data::x
#include <atomic>
#include <thread>

struct Data;
std::atomic<Data*> data = nullptr;

struct Data {
  int x;
  Data() {
    data = this;
    x = 1;
  }
};

int main() {
  std::thread first([] { new Data(); });
  std::thread second([] {
    if (Data* seen = data) (void)*const_cast<volatile int*>(&seen->x);
  });
  first.join();
  second.join();
  delete data.load();
}
