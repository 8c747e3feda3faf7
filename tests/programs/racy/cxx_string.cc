// SPDX-License-Identifier: Apache-2.0
//
// Strings whose functions are in libstdc++.so: what it copies counts as an access of its caller.
//
// EXPECT-RACE: assigned* write-write @one @two
// EXPECT-RACE: heap block of 59 bytes* write-read @three @four
// EXPECT-RACE: heap block of 232 bytes* write-write @five @six
// FLAGS: -std=c++17
#include <string>
#include <thread>

#include "invisible_barrier.h"

std::string assigned;
std::string compared = "another text that is longer than what fits into the object";
std::wstring wide = L"a wide text that is longer than what fits into the object";
int step = 0, sum = 0;

int main() {
  std::thread one([] {
    invisible_start(2);
    assigned = "Thread1";    // @one
    compared.assign("tab");  // @three
    wide.assign(3, L'x');    // @five
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    assigned = "Booooooooooo";       // @two
    sum += compared.compare("tax");  // @four
    wide.assign(L"yy");              // @six
  });
  one.join();
  two.join();
  return 0;
}
