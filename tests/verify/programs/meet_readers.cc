// SPDX-License-Identifier: Apache-2.0
//
// A reader-writer lock: readers may be in it together, the writer only alone.
//
// EXPECT-VERIFY: * none
// VERIFY-RC11: =
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex m;
int value = 0;

int main() {
  int seen = 0, here = 0;
  std::thread writer([] {
    std::unique_lock guard(m);
    value = 1;
  });
  std::thread reader([&] {
    std::shared_lock guard(m);
    seen = value;
  });
  {
    std::shared_lock guard(m);
    here = value;
  }
  writer.join();
  reader.join();
  return seen + here <= 2 ? 0 : 1;
}
