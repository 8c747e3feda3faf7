// SPDX-License-Identifier: Apache-2.0
//
// A private member that is read and written by accessor functions only, from two threads.
//
// FIX: make Settings::level_ atomic
#include <cassert>
#include <thread>

class Settings {
 public:
  int level() const { return level_; }
  void set_level(int level) { level_ = level; }

 private:
  int level_ = 1;
};

int main() {
  Settings settings;
  int seen = 0;
  std::thread writer([&] { settings.set_level(2); });
  std::thread reader([&] { seen = settings.level(); });
  writer.join();
  reader.join();
  assert(seen == 1 || seen == 2);
}
