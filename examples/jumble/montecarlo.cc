// SPDX-License-Identifier: Apache-2.0
//
// JUMBLE, figure 9, montecarlo (Java Grande): prices of a share are simulated on many random paths. The
// constructor of the base class sets a flag for all objects, again and again and in all threads, always to
// the same value.
//
// montecarlo [PATHS]
//
// EXPECT-VERDICT: Universal::universal_debug same-value
// EXPECT-RACE: Universal::universal_debug
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr int kThreads = 4, kSteps = 50;

class Universal {
 public:
  Universal() { universal_debug = false; }

 protected:
  void debug(const char* what, double value) const {
    if (universal_debug) std::fprintf(stderr, "%s %g\n", what, value);
  }

 private:
  static bool universal_debug;
};
bool Universal::universal_debug = false;

class PricePath : public Universal {
 public:
  explicit PricePath(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

  /// The price at the end: a geometric Brownian motion.
  double run() {
    double price = 100;
    for (int i = 0; i < kSteps; ++i) price *= std::exp(0.0001 + 0.01 * normal());
    debug("path ends at", price);
    return price;
  }

 private:
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
      state_ ^= state_ >> 12;
      state_ ^= state_ << 25;
      state_ ^= state_ >> 27;
      sum += static_cast<double>(state_ * 0x2545f4914f6cdd1du >> 11) * 0x1p-53;
    }
    return sum;
  }

  uint64_t state_;
};

int main(int count, char** arguments) {
  const long paths = count > 1 ? std::atol(arguments[1]) : 40;
  if (paths < 1) return 2;
  double sums[kThreads] = {};
  std::vector<std::thread> threads;
  for (int id = 0; id < kThreads; ++id)
    threads.emplace_back([&sums, id, paths] {
      double sum = 0;
      for (long path = id; path < paths; path += kThreads)
        sum += std::fmax(0.0, PricePath(path + 1).run() - 100);
      sums[id] = sum;
    });
  for (std::thread& thread : threads) thread.join();
  double total = 0;
  for (double sum : sums) total += sum;
  std::printf("option %.9f\n", total / static_cast<double>(paths));
}
