// SPDX-License-Identifier: Apache-2.0
//
// Futures and promises as they should be, with async and an exception through a future.
//
// EXPECT-NO-FAILURE
// WITHIN: 200
#include <atomic>
#include <cassert>
#include <future>
#include <stdexcept>
#include <thread>

int main() {
  std::promise<int> promise;
  std::future<int> result = promise.get_future();
  std::atomic<bool> found{false};
  auto search = [&](int answer) {
    if (!found.exchange(true)) promise.set_value(answer);
  };
  std::thread first(search, 1), second(search, 2);
  std::future<int> sum = std::async(std::launch::async, [] { return 2 + 3; });
  std::future<int> broken = std::async(std::launch::async, []() -> int { throw std::runtime_error("no"); });
  int answer = result.get();
  assert(answer == 1 || answer == 2);
  assert(sum.get() == 5);
  bool thrown = false;
  try {
    broken.get();
  } catch (const std::runtime_error&) {
    thrown = true;
  }
  assert(thrown);
  first.join();
  second.join();
}
