// SPDX-License-Identifier: Apache-2.0
//
// The pointer is loaded for each field.
//
// truth: active destructive exit:1: the two loads may see different configurations
#include <thread>

struct Settings {
  int low, high;
};

const Settings settings[2] = {{1, 2}, {10, 20}};
const Settings* active = &settings[0];

int main() {
  bool right = true;
  std::thread reloader([] { active = &settings[1]; });
  std::thread user([&right] {
    int low = active->low;
    int high = active->high;
    right = high == 2 * low;
  });
  reloader.join();
  user.join();
  return right ? 0 : 1;
}
