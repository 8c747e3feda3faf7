// SPDX-License-Identifier: Apache-2.0
//
// Two consumers test the size without the lock, and then take without a test.
//
// truth: size destructive exit:1: both may see the last item, and take it
#include <mutex>
#include <thread>

std::mutex mutex;
int size = 1;
bool underflow = false;

void take() {
  if (size == 0) return;
  std::lock_guard guard(mutex);
  --size;
  if (size < 0) underflow = true;
}

int main() {
  std::thread first(take), second(take);
  first.join();
  second.join();
  return underflow ? 1 : 0;
}
