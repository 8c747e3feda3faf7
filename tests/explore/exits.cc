// SPDX-License-Identifier: Apache-2.0
//
// Ends with code 3 in some schedules, in one of three places.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

static std::atomic<int> last{0};

static void leave() {
  if (last == 1) std::exit(3);
}

int main(int count, char** arguments) {
  std::string how = count > 1 ? arguments[1] : "";
  std::thread first([] { last = 1; });
  std::thread second([] { last = 2; });
  first.join();
  second.join();
  if (how == "calls") leave();
  if (how == "thread")
    std::thread([] {
      if (last == 1) _exit(3);
    }).join();
  return how == "returns" && last == 1 ? 3 : 0;
}
