// SPDX-License-Identifier: Apache-2.0
//
// Both configurations exist before the threads; only the plain pointer is switched.
//
// truth: active harmless: either object is complete, and a user loads the pointer once
#include <thread>

struct Settings {
  int low, high;
};

const Settings settings[2] = {{1, 2}, {10, 20}};
const Settings* active = &settings[0];

int main() {
  bool right[2] = {};
  auto use = [&right](int self) {
    const Settings* seen = active;
    right[self] = seen->high == 2 * seen->low;
  };
  std::thread reloader([] { active = &settings[1]; });
  std::thread first(use, 0), second(use, 1);
  reloader.join();
  first.join();
  second.join();
  return right[0] && right[1] ? 0 : 1;
}
