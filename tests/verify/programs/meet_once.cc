// SPDX-License-Identifier: Apache-2.0
//
// What is done once is done by either thread, and seen by both.
//
// EXPECT-VERIFY: * none
// VERIFY-RC11: =
#include <mutex>
#include <thread>

std::once_flag flag;
int value = 0;

int get() {
  std::call_once(flag, [] { value = 7; });
  return value;
}

int main() {
  int seen = 0;
  std::thread other([&] { seen = get(); });
  int here = get();
  other.join();
  return seen == 7 && here == 7 ? 0 : 1;
}
