// SPDX-License-Identifier: Apache-2.0
//
// An array is as long as the threads have entered into it; the place after the last is touched if both count
// before either looks.
//
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DWRITE failure out-of-bounds
// VERIFY-FAULT: -DREAD failure out-of-bounds
// VERIFY-FAULT: -DBEFORE failure out-of-bounds
// VERIFY-FAULT: -DLIBRARY failure out-of-bounds
#include <atomic>
#include <cstring>
#include <thread>

int main() {
  std::atomic<int> entered{0};
  auto* values = new short[3]();
  auto enter = [&] {
    ++entered;
#ifdef WRITE
    if (entered == 2) values[3] = 1;
#elif defined(READ)
    if (entered == 2 && values[3] == 1) entered = 0;
#elif defined(BEFORE)
    if (entered == 2) values[-1] = 1;
#elif defined(LIBRARY)
    if (entered == 2) memset(values, 0, 8);
#else
    if (entered == 2) values[2] = 1, memset(values, 0, 6);
#endif
  };
  std::thread other(enter);
  other.join();
  enter();
  delete[] values;
}
