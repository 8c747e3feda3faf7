// SPDX-License-Identifier: Apache-2.0
//
// JUMBLE, figure 9, tsp: travelling salesman by branch and bound. The length of the best tour so far is set
// under a lock and read without it, to leave out what cannot be better. An old length is larger: more is
// tried than need be, and the answer is the same.
//
// tsp [CITIES]
//
// EXPECT-VERDICT: TspSolver::min_tour_len slower
// EXPECT-RACE: TspSolver::min_tour_len
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

constexpr int kThreads = 4, kMost = 20;

struct Tour {
  int cities[kMost], count, length;
  unsigned visited;
};

class TspSolver {
 public:
  explicit TspSolver(int cities) : cities_(cities) {
    for (int i = 0; i < cities; ++i)
      for (int j = 0; j < cities; ++j) distance_[i][j] = i == j ? 0 : between(i, j);
    Tour guess = {{0, 1}, 2, distance_[0][1], 3};  // something to begin with: every two cities exchanged
    for (int i = 2; i < cities; ++i) {
      const int city = (i ^ 1) < cities ? i ^ 1 : i;
      guess.length += distance_[guess.cities[guess.count - 1]][city];
      guess.cities[guess.count++] = city;
    }
    set_best(guess, guess.length + distance_[guess.cities[cities - 1]][0]);
  }

  /// Every thread tries the tours that begin with a city of its own, near ones first.
  void work(int id) {
    for (int city = 1 + id; city < cities_; city += kThreads) {
      Tour tour = {{0, city}, 2, distance_[0][city], 1u | 1u << city};
      extend(tour);
    }
  }

  /// The length of the best tour, or -1 if it is not that of the tour.
  int best() const {
    int length = 0;
    for (int i = 0; i < cities_; ++i) length += distance_[min_tour_[i]][min_tour_[(i + 1) % cities_]];
    return length == min_tour_len ? length : -1;
  }

 private:
  /// The best tour goes from each city to the next one, so that the first thread finds it at once. The others
  /// try tours that come to city 1 later, which is far from everywhere but home.
  static int between(int from, int to) {
    if (to == 1 && from != 0) return 10000;
    return to == from + 1 || to == 0 ? 10 : 20 + (from * 7 + to * 13) % 11;
  }

  void set_best(const Tour& tour, int length) {
    if (length >= min_tour_len) return;
    std::lock_guard lock(min_lock_);
    if (length < min_tour_len) {
      min_tour_len = length;
      for (int i = 0; i < cities_; ++i) min_tour_[i] = tour.cities[i];
    }
  }

  void extend(Tour& tour) {
    const int last = tour.cities[tour.count - 1];
    if (tour.count == cities_) return set_best(tour, tour.length + distance_[last][0]);
    for (int city = 1; city < cities_; ++city) {
      if ((tour.visited >> city & 1) != 0) continue;
      const int length = tour.length + distance_[last][city];
      if (length >= min_tour_len) continue;
      tour.cities[tour.count++] = city;
      tour.visited |= 1u << city;
      tour.length += distance_[last][city];
      extend(tour);
      tour.length -= distance_[last][city];
      tour.visited &= ~(1u << city);
      --tour.count;
    }
  }

  const int cities_;
  int distance_[kMost][kMost];
  std::mutex min_lock_;
  int min_tour_len = 1 << 30;
  int min_tour_[kMost] = {};
};

int main(int count, char** arguments) {
  const int cities = count > 1 ? std::atoi(arguments[1]) : 8;
  if (cities < 3 || cities > kMost) return 2;
  TspSolver solver(cities);
  std::vector<std::thread> threads;
  for (int id = 0; id < kThreads; ++id) threads.emplace_back([&solver, id] { solver.work(id); });
  for (std::thread& thread : threads) thread.join();
  const int best = solver.best();
  std::printf("length %d\n", best);
  return best > 0 ? 0 : 1;
}
