// SPDX-License-Identifier: Apache-2.0
//
// Every pair of an allocation and a free that do not belong together, and all that do.
//
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DONE failure mismatched-free
// VERIFY-FAULT: -DTWO failure mismatched-free
// VERIFY-FAULT: -DTHREE failure mismatched-free
// VERIFY-FAULT: -DFOUR failure mismatched-free
// VERIFY-FAULT: -DFIVE failure mismatched-free
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct alignas(64) Wide {
  int value = 0;
};

void all_right() {
  free(calloc(3, 5));
  free(realloc(malloc(10), 100));
  free(strdup("text"));
  free(aligned_alloc(64, 128));
  void* memory = nullptr;
  if (posix_memalign(&memory, 64, 100) == 0) free(memory);
  delete new Wide;
  delete[] new Wide[3];
  delete[] new std::string[2];
  delete new (std::nothrow) int;
  std::vector<int> numbers(10, 1);
  numbers.push_back(2);
  auto shared = std::make_shared<std::string>("a text that does not fit into the object itself");
}

int main() {
  std::thread thread([] {
    all_right();
#ifdef ONE
    free(new int);
#elif defined(TWO)
    delete static_cast<int*>(malloc(4));
#elif defined(THREE)
    delete new int[3];
#elif defined(FOUR)
    delete[] new int;
#elif defined(FIVE)
    free(realloc(new int, 100));
#endif
  });
  thread.join();
}
