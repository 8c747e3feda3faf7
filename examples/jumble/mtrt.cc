// SPDX-License-Identifier: Apache-2.0
//
// JUMBLE, figure 9, mtrt (SPEC JVM98): a ray tracer whose main thread counts the runners that it starts, and
// each runner counts itself out without a lock. The count becomes wrong, and nobody looks at it.
//
// mtrt [SIZE]
//
// EXPECT-VERDICT: RayTracer::thread_count no-harm-found
// EXPECT-RACE: RayTracer::thread_count
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "spheres.h"

constexpr int kThreads = 4;

class RayTracer {
 public:
  explicit RayTracer(int size) : size_(size), image_(static_cast<size_t>(size) * size) {}

  void render() {
    std::vector<std::thread> runners;
    for (int i = 0; i < kThreads; ++i) {
      ++thread_count;
      runners.emplace_back([this, i] { run(i); });
    }
    for (std::thread& runner : runners) runner.join();
  }

  long checksum() const {
    long sum = 0;
    for (int value : image_) sum = (sum * 31 + value) % 1000003;
    return sum;
  }

 private:
  void run(int part) {
    for (int y = size_ * part / kThreads; y < size_ * (part + 1) / kThreads; ++y)
      for (int x = 0; x < size_; ++x) image_[y * size_ + x] = scene_.pixel(x, y, size_);
    --thread_count;
  }

  const int size_;
  const spheres::Scene scene_;
  std::vector<int> image_;
  int thread_count = 0;
};

int main(int count, char** arguments) {
  const int size = count > 1 ? std::atoi(arguments[1]) : 16;
  if (size < 1) return 2;
  RayTracer tracer(size);
  tracer.render();
  std::printf("checksum %ld\n", tracer.checksum());
}
