// SPDX-License-Identifier: Apache-2.0
//
// Sleeps for days, correctly: costs no time, and whoever sleeps an hour by the clock sees an hour go by.
//
// EXPECT-NO-FAILURE
// WITHIN: 100
#include <atomic>
#include <cassert>
#include <chrono>
#include <thread>

using namespace std::chrono_literals;

int main() {
  std::atomic<int> done{0};
  auto sleep = [&](std::chrono::seconds time) {
    auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(time);
    assert(std::chrono::steady_clock::now() - start >= time);
    ++done;
  };
  std::thread first(sleep, 48h), second(sleep, 1h);
  sleep(10s);
  first.join();
  second.join();
  assert(done == 3);
}
