// SPDX-License-Identifier: Apache-2.0
//
// Monte Carlo pricing (Java Grande's montecarlo): `work` tasks of random price paths that are put together
// from `data` observed prices; results kept as heap objects in one vector under a mutex, averaged at the end.
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

std::unique_ptr<Result> simulate(long task, const std::vector<double>& history) {
  constexpr int kSteps = 250;
  std::vector<double> path(kSteps);
  bench::Random random(task + 1);
  double price = 100;
  for (double& point : path) {
    double normal = -6;
    for (int i = 0; i < 12; i++) normal += random.uniform();
    price *= std::exp(0.0001 + 0.01 * normal + history[random.next() % history.size()]);
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
  auto [threads, work, data] = bench::arguments(argc, argv, 80000, 10000);
  std::vector<double> history(data);
  bench::Random random(17);
  for (double& change : history) change = (random.uniform() - 0.5) * 0.001;
  std::vector<std::unique_ptr<Result>> results;
  std::mutex mutex;
  std::atomic<long> next = 0;
  bench::parallel(threads, [&, work = work](int) {
    for (long task; (task = next.fetch_add(1)) < work;) {
      auto result = simulate(task, history);
      std::lock_guard lock(mutex);
      results.push_back(std::move(result));
    }
  });
  std::sort(results.begin(), results.end(), [](auto& a, auto& b) { return a->task < b->task; });
  double total = 0;
  for (auto& result : results) total += result->expected + result->volatility;
  return bench::finish(bench::bits(total));
}
