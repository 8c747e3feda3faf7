// SPDX-License-Identifier: Apache-2.0
//
// A string is measured while another thread writes to it. The call of strlen is a step, before which others may run.
//
// EXPECT-VERIFY: * race text[]
// EXPECT-VERIFY: * failure exit:1
// VERIFY-BOUND: a racing access of more than 256 bytes, or of a function of the C library
#include <cstring>
#include <thread>

char text[16] = "hello";

int main() {
  size_t seen = 0;
  std::thread writer([] {
    text[2] = 0;
    text[2] = 'l';
  });
  std::thread reader([&] { seen = strlen(text); });
  writer.join();
  reader.join();
  return seen != 5;
}
