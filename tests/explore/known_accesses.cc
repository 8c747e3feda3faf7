// SPDX-License-Identifier: Apache-2.0
//
// Programs for known_accesses.py: `known_accesses NAME`. In each of them some executions differ in the order of
// atomic operations alone; in some the accesses themselves, and whether they race, depend on it.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 3;

std::atomic<int> x{0}, flag{0};
int data = 0;
int* block = nullptr;
int results[kThreads];
std::mutex mutex;

template <typename Body>
void together(Body body) {
  std::vector<std::thread> all;
  for (int i = 0; i < kThreads; ++i) all.emplace_back(body, i);
  for (std::thread& t : all) t.join();
}

/// No plain access of one thread meets one of another.
void atomics() {
  together([](int i) { results[i] = x.fetch_add(i + 1); });
  int sum = 0;
  for (int result : results) sum += result;
  std::printf("%d\n", sum > 0);
}

/// Each order of the threads has its own accesses.
void other_places() {
  static int table[16];
  together([](int) { ++table[4 * x.fetch_add(1)]; });
}

/// Whether the pair is ordered depends on the lock alone.
void lock() {
  together([](int) {
    std::lock_guard guard(mutex);
    ++data;
  });
}

/// A race only where the second thread sees the flag: with `order` relaxed.
void publish(std::memory_order order) {
  together([order](int i) {
    if (i == 0) {
      data = 1;
      flag.store(1, order);
    } else if (i == 1) {
      results[1] = flag.load() != 0 ? data : 0;
    } else {
      x.fetch_add(1);
    }
  });
}

/// A plain read of what others access atomically, in few executions.
void plain_read() {
  together([](int i) {
    if (i == 0) x.store(1, std::memory_order_relaxed);
    if (i == 1) x.fetch_add(2);
    if (i == 2 && x.load(std::memory_order_relaxed) == 3) std::memcpy(&results[2], &x, sizeof results[2]);
  });
}

/// The block is freed after another thread has read it, but nothing orders the two.
void freed() {
  block = new int(1);
  together([](int i) {
    constexpr auto kRelaxed = std::memory_order_relaxed;
    if (i == 0 && x.fetch_add(1, kRelaxed) == 2) delete block;
    if (i == 1) results[1] = *block, x.fetch_add(1, kRelaxed);
    if (i == 2) x.fetch_add(1, kRelaxed);
  });
}

/// A loop that waits: it is recognised by the state of its thread.
void wait() {
  together([](int i) {
    if (i == 0) flag.store(1);
    if (i == 1) {
      while (flag.load() == 0) {
      }
    }
    if (i == 2) x.fetch_add(1);
  });
}

/// It fails where one thread is last, so its process is not rolled back.
void fails() {
  together([](int i) {
    if (x.fetch_add(1) == 2 && i == 0) std::abort();
  });
}

}  // namespace

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
  if (is("atomics")) atomics();
  if (is("other_places")) other_places();
  if (is("lock")) lock();
  if (is("publish")) publish(std::memory_order_release);
  if (is("race")) publish(std::memory_order_relaxed);
  if (is("plain_read")) plain_read();
  if (is("freed")) freed();
  if (is("wait")) wait();
  if (is("fails")) fails();
}
