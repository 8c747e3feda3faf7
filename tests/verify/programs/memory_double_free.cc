// SPDX-License-Identifier: Apache-2.0
//
// Whoever counts down to zero deletes; counting and looking are two steps.
//
// EXPECT-VERIFY: * failure double-free
// VERIFY-ALSO: -DCORRECT * none
// VERIFY-RC11: *
#include <atomic>
#include <thread>

std::atomic<int> users{2};
int* data = new int(1);

void leave() {
#ifdef CORRECT
  if (--users == 0) delete data;
#else
  --users;
  if (users == 0) delete data;
#endif
}

int main() {
  std::thread other(leave);
  leave();
  other.join();
}
