// SPDX-License-Identifier: Apache-2.0
// A race that is rare in time and in code: among work on memory of their own, two threads touch a shared word
// every millisecond or so. Until they are stopped.
#include <cstdint>
#include <thread>
#include <vector>

long last_seen;

__attribute__((noinline)) std::uint64_t own_work(std::vector<std::uint64_t>& memory, std::uint64_t state) {
  for (int i = 0; i < 200000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    memory[state >> 54] += state;
  }
  return state;
}

__attribute__((noinline)) void rare(long value) {
  last_seen = value;
}

int main() {
  auto work = [](std::uint64_t seed) {
    std::vector<std::uint64_t> memory(1024);
    for (long i = 0;; ++i) {
      seed = own_work(memory, seed);
      rare(i);
    }
  };
  std::thread a(work, 1), b(work, 2);
  a.join();
  b.join();
}
