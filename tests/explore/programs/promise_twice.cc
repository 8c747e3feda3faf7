// SPDX-License-Identifier: Apache-2.0
//
// Two threads search, the first to find it keeps the promise. Whether it has been kept is asked and answered
// in two steps, so both may keep it, and the second gets an exception.
//
// EXPECT-FAILURE: exception:std::future_error
#include <atomic>
#include <future>
#include <thread>

int main() {
  std::promise<int> promise;
  std::future<int> result = promise.get_future();
  std::atomic<bool> found{false};
  auto search = [&](int answer) {
    if (found) return;
    found = true;  // should be an exchange with the question
    promise.set_value(answer);
  };
  std::thread first(search, 1), second(search, 2);
  int answer = result.get();
  first.join();
  second.join();
  return answer > 0 ? 0 : 1;
}
