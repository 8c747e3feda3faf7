// SPDX-License-Identifier: Apache-2.0
//
// Depth 1, and harmless to look at: what is read after the delete is a number. AddressSanitizer in the
// program tells, and its report counts as the failure.
//
// EXPECT-FAILURE: sanitizer:AddressSanitizer
// FLAGS: -fsanitize=address
#include <cstdio>
#include <memory>
#include <thread>

int main() {
  auto number = std::make_unique<int>(42);
  std::thread reader([pointer = number.get()] { std::printf("%d\n", *pointer); });
  number.reset();
  reader.join();
}
