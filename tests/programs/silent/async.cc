// SPDX-License-Identifier: Apache-2.0
//
// std::async, deferred and on its own thread, and a packaged task.
//
// EXPECT-NO-RACE
#include <future>
#include <numeric>
#include <vector>

int main() {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), 1);
  auto half = [&values](size_t from, size_t to) {
    return std::accumulate(values.begin() + from, values.begin() + to, 0L);
  };
  auto first = std::async(std::launch::async, half, 0, 500);
  auto second = std::async(std::launch::deferred, half, 500, 1000);
  long sum = first.get() + second.get();
  values[0] = 0;
  std::packaged_task<int()> task([&values] { return values[0] = 7; });
  auto result = task.get_future();
  std::thread thread(std::move(task));
  int seven = result.get();
  values[0]++;
  thread.join();
  return sum == 500500 && seven == 7 && values[0] == 8 ? 0 : 1;
}
