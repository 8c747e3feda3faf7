// SPDX-License-Identifier: Apache-2.0
//
// Monte Carlo pricing (Java Grande's montecarlo): tasks of random price paths, results kept as heap
// objects in one vector under a mutex, averaged at the end.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>

#include "../kernel.h"

namespace {
struct Result {
  long task;
  double expected, volatility;
};

std::unique_ptr<Result> simulate(long task) {
  constexpr int kSteps = 1000;
  std::vector<double> path(kSteps);
  bench::Random random(task + 1);
  double price = 100;
  for (double& point : path) {
    double normal = -6;
    for (int i = 0; i < 12; i++) normal += random.uniform();
    price *= std::exp(0.0001 + 0.01 * normal);
    point = price;
  }
  double sum = 0, squares = 0;
  for (int i = 1; i < kSteps; i++) {
    double change = std::log(path[i] / path[i - 1]);
    sum += change;
    squares += change * change;
  }
  return std::make_unique<Result>(Result{task, sum, std::sqrt(squares / kSteps)});
}
}  // namespace

int main(int argc, char** argv) {
  auto [threads, size] = bench::arguments(argc, argv, 20000);
  std::vector<std::unique_ptr<Result>> results;
  std::mutex mutex;
  std::atomic<long> next = 0;
  bench::parallel(threads, [&, size = size](int) {
    for (long task; (task = next.fetch_add(1)) < size;) {
      auto result = simulate(task);
      std::lock_guard lock(mutex);
      results.push_back(std::move(result));
    }
  });
  std::sort(results.begin(), results.end(), [](auto& a, auto& b) { return a->task < b->task; });
  double total = 0;
  for (auto& result : results) total += result->expected + result->volatility;
  return bench::finish(bench::bits(total));
}
