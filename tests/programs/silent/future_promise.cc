// SPDX-License-Identifier: Apache-2.0
//
// A promise orders what its thread wrote before the future's get, for values and exceptions.
//
// EXPECT-NO-RACE
#include <future>
#include <stdexcept>
#include <thread>

int side = 0;

int main() {
  std::promise<int*> promise;
  std::promise<void> failing;
  std::thread writer([&] {
    side = 1;
    promise.set_value(new int(41));
    side++;
    failing.set_exception(std::make_exception_ptr(std::runtime_error("expected")));
  });
  int* value = promise.get_future().get();
  int sum = *value;
  delete value;
  try {
    failing.get_future().get();
    return 1;
  } catch (const std::runtime_error&) {
    sum += side;
  }
  writer.join();
  return sum == 43 ? 0 : 1;
}
