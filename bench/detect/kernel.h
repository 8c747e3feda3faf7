// SPDX-License-Identifier: Apache-2.0
//
// What the kernels share: arguments, starting threads, a barrier, a random generator that is the same
// everywhere, and the checksum line. A kernel is one file and takes `threads size`; it must be free
// of races and print the same checksum in every build, so that a wrong answer shows at once.
#pragma once

#include <pthread.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace bench {

struct Arguments {
  int threads;
  long size;
};

inline Arguments arguments(int argc, char** argv, long default_size) {
  Arguments result{2, default_size};
  if (argc > 1) result.threads = std::atoi(argv[1]);
  if (argc > 2) result.size = std::atol(argv[2]);
  if (result.threads < 1 || result.threads > 1024 || result.size < 1) {
    std::fprintf(stderr, "usage: %s [threads [size]]\n", argv[0]);
    std::exit(2);
  }
  return result;
}

/// Runs body(thread index) on so many threads and joins them.
template <typename Body>
void parallel(int threads, Body body) {
  std::vector<std::thread> running;
  running.reserve(threads);
  for (int t = 0; t < threads; t++) running.emplace_back(body, t);
  for (std::thread& thread : running) thread.join();
}

/// The part of [0, n) that thread t of `threads` works on.
struct Slice {
  long begin, end;
  Slice(long n, int t, int threads) : begin(n * t / threads), end(n * (t + 1) / threads) {}
};

/// pthread_barrier, because every tool that is compared knows it.
class Barrier {
 public:
  explicit Barrier(int threads) { pthread_barrier_init(&barrier_, nullptr, threads); }
  ~Barrier() { pthread_barrier_destroy(&barrier_); }
  void wait() { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

/// xorshift64*: small and the same in every build.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

inline uint64_t bits(double value) {
  uint64_t result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

inline int finish(uint64_t checksum) {
  std::printf("checksum %016" PRIx64 "\n", checksum);
  return 0;
}

}  // namespace bench
