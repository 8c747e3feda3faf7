// SPDX-License-Identifier: Apache-2.0
//
// Several variables race, one of them an array: the fix names them all.
//
// VERIFY-FIX: make first, second and the elements of table[] atomic
// EXPECT-VERIFY: * race first
// EXPECT-VERIFY: * race second
// EXPECT-VERIFY: * race table*
#include <thread>

static int first, second, table[4];

int main() {
  auto work = [] {
    first = 1;
    second = 1;
    table[2] = 1;
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
}
