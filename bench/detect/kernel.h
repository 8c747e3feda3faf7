// SPDX-License-Identifier: Apache-2.0
//
// What the kernels share: arguments, starting threads, measuring, a barrier, a random generator that is the
// same everywhere, and the checksum line. A kernel is one file and takes `threads work data`: how much it
// does and how much memory it does it on, in units of its own. It must be free of races and print the same
// checksum in every build, so that a wrong answer shows at once.
#pragma once

#include <pthread.h>
#include <time.h>

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
  long work, data;
};

inline Arguments arguments(int argc, char** argv, long work, long data) {
  Arguments result{2, work, data};
  if (argc > 1) result.threads = std::atoi(argv[1]);
  if (argc > 2) result.work = std::atol(argv[2]);
  if (argc > 3) result.data = std::atol(argv[3]);
  if (result.threads < 1 || result.threads > 1024 || result.work < 1 || result.data < 1) {
    std::fprintf(stderr, "usage: %s [threads [work [data]]]\n", argv[0]);
    std::exit(2);
  }
  return result;
}

/// Seconds on a clock, or since an earlier reading.
struct Times {
  double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);

  static double seconds(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }
};

inline Times measured{0, 0};  // inside `parallel`; of the main thread

/// Runs body(thread index) on so many threads and joins them. The time that this takes is what is measured:
/// neither the start of the program nor its input.
template <typename Body>
void parallel(int threads, Body body) {
  Times begin;
  std::vector<std::thread> running;
  running.reserve(threads);
  for (int t = 0; t < threads; t++) running.emplace_back(body, t);
  for (std::thread& thread : running) thread.join();
  Times end;
  measured.wall += end.wall - begin.wall;
  measured.cpu += end.cpu - begin.cpu;
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

/// The answer on stdout; what it took on stderr, where it is not part of the answer.
inline int finish(uint64_t checksum) {
  std::fprintf(stderr, "kernel %.6f %.6f\n", measured.wall, measured.cpu);
  std::printf("checksum %016" PRIx64 "\n", checksum);
  return 0;
}

}  // namespace bench
