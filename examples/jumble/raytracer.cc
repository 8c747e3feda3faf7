// SPDX-License-Identifier: Apache-2.0
//
// JUMBLE, figure 9, raytracer (Java Grande): each thread renders every fourth row and adds its checksum to
// that of all. The threads do so by turns, but the turn is a relaxed atomic: it says who is next and nothing
// about what was written. In time no addition is lost, in memory all but one may be.
//
// raytracer [SIZE]; exits with 1 if the checksum is not that of the image.
//
// EXPECT-VERDICT: RayTracerBench::checksum1 destructive exit:1
// EXPECT-RACE: RayTracerBench::checksum1
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "spheres.h"

constexpr int kThreads = 4;

struct RayTracerBench {
  static long checksum1;
  static std::atomic<int> turn;
};
long RayTracerBench::checksum1 = 0;
std::atomic<int> RayTracerBench::turn{0};

long render(const spheres::Scene& scene, int size, int first, int stride) {
  long checksum = 0;
  for (int y = first; y < size; y += stride)
    for (int x = 0; x < size; ++x) checksum += scene.pixel(x, y, size) * (1L + x + y * size);
  return checksum;
}

void worker(const spheres::Scene& scene, int size, int id) {
  const long checksum = render(scene, size, id, kThreads);
  while (RayTracerBench::turn.load(std::memory_order_relaxed) != id) std::this_thread::yield();
  RayTracerBench::checksum1 += checksum;
  RayTracerBench::turn.store(id + 1, std::memory_order_relaxed);
}

int main(int count, char** arguments) {
  const int size = count > 1 ? std::atoi(arguments[1]) : 16;
  if (size < 1) return 2;
  const spheres::Scene scene;
  const long right = render(scene, size, 0, 1);
  std::vector<std::thread> threads;
  for (int id = 0; id < kThreads; ++id) threads.emplace_back(worker, std::cref(scene), size, id);
  for (std::thread& thread : threads) thread.join();
  const long checksum = RayTracerBench::checksum1;
  std::printf("%s %ld\n", checksum == right ? "valid" : "wrong", checksum);
  return checksum == right ? 0 : 1;
}
