// SPDX-License-Identifier: Apache-2.0
//
// The level of logging is changed while threads log.
//
// truth: level harmless: a line more or less in the log
#include <atomic>
#include <thread>

int level = 0;
std::atomic<int> written{0};

void log(int importance) {
  if (importance <= level) written.fetch_add(1);
}

int main() {
  std::thread first([] { log(1); });
  std::thread second([] { log(2); });
  level = 2;
  first.join();
  second.join();
  return written.load() <= 2 ? 0 : 1;
}
