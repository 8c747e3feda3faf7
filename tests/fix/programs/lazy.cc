// SPDX-License-Identifier: Apache-2.0
//
// A singleton that is made when it is first needed, by two threads at once.
//
// FIX: add a mutex for
#include <cassert>
#include <thread>

struct Settings {
  int level = 3;
};

static int made = 0;
static Settings* settings = nullptr;

static int level() {
  if (settings == nullptr) {
    settings = new Settings;
    made = made + 1;
  }
  return settings->level;
}

int main() {
  std::thread other(level);
  int mine = level();
  other.join();
  assert(mine == 3 && made == 1);
  delete settings;
}
