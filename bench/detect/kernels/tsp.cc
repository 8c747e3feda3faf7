// SPDX-License-Identifier: Apache-2.0
//
// Travelling salesman by branch and bound: a shared pool of partial tours under a mutex; each thread
// extends them depth first. The best length is read without the lock, as an atomic (in the papers: a race).
// `work` cities; the partial tours of the pool have `data` cities (3 are few long tasks, 6 many short ones).
#include <atomic>
#include <deque>
#include <mutex>

#include "../kernel.h"

namespace {
constexpr int kMax = 20;
struct Tour {
  int count = 0, length = 0;
  unsigned visited = 0;
  int8_t cities[kMax];
};

struct Solver {
  int cities;
  int distance[kMax][kMax];
  int shortest[kMax];  // least distance out of each city: a lower bound
  std::atomic<int> best{1 << 30};
  std::mutex mutex;
  std::deque<Tour> pool;

  void record(int length) {
    std::lock_guard lock(mutex);
    if (length < best.load(std::memory_order_relaxed)) best.store(length);
  }

  void extend(Tour& tour, int bound) {
    int last = tour.cities[tour.count - 1];
    if (tour.count == cities) {
      int length = tour.length + distance[last][0];
      if (length < best.load(std::memory_order_relaxed)) record(length);
      return;
    }
    for (int city = 1; city < cities; city++) {
      if ((tour.visited >> city & 1) != 0) continue;
      int step = distance[last][city], rest = bound - shortest[last];
      if (tour.length + step + rest >= best.load(std::memory_order_relaxed)) continue;
      tour.cities[tour.count++] = static_cast<int8_t>(city);
      tour.visited |= 1u << city;
      tour.length += step;
      extend(tour, rest);
      tour.length -= step;
      tour.visited &= ~(1u << city);
      tour.count--;
    }
  }

  int bound_of(const Tour& tour) const {
    int bound = shortest[static_cast<int>(tour.cities[tour.count - 1])];
    for (int city = 0; city < cities; city++)
      if ((tour.visited >> city & 1) == 0) bound += shortest[city];
    return bound;
  }

  /// Adds the tours that are one city longer.
  void fork(const Tour& tour) {
    for (int city = 1; city < cities; city++) {
      if ((tour.visited >> city & 1) != 0) continue;
      Tour longer = tour;
      longer.length += distance[static_cast<int>(tour.cities[tour.count - 1])][city];
      longer.cities[longer.count++] = static_cast<int8_t>(city);
      longer.visited |= 1u << city;
      pool.push_back(longer);
    }
  }

  void work() {
    for (;;) {
      Tour tour;
      {
        std::lock_guard lock(mutex);
        if (pool.empty()) return;
        tour = pool.front();
        pool.pop_front();
      }
      extend(tour, bound_of(tour));
    }
  }
};
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 18, 3);
  const long size = work;
  if (size < 4 || size > kMax || data >= size) return 2;
  auto* solver = new Solver;
  solver->cities = static_cast<int>(size);
  bench::Random random(7);
  for (int i = 0; i < size; i++)
    for (int j = 0; j <= i; j++)
      solver->distance[i][j] = solver->distance[j][i] =
          i == j ? 0 : 10 + static_cast<int>(random.next() % 90);
  for (int i = 0; i < size; i++) {
    solver->shortest[i] = 1 << 20;
    for (int j = 0; j < size; j++)
      if (i != j && solver->distance[i][j] < solver->shortest[i])
        solver->shortest[i] = solver->distance[i][j];
  }
  Tour start;
  start.count = 1;
  start.visited = 1;
  start.cities[0] = 0;
  solver->pool.push_back(start);
  while (solver->pool.front().count < data) {
    solver->fork(solver->pool.front());  // a deque: the front stays where it is
    solver->pool.pop_front();
  }
  bench::parallel(threads, [&](int) { solver->work(); });
  int best = solver->best;
  delete solver;
  return bench::finish(best);
}
