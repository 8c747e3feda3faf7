// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, table 1, lusearch's ThreadLocal.nextHashBase: every new key takes its hash code from a
// counter of the class, under a lock of the object. So two keys may get the same code: they collide, and are
// found all the same.
//
// lusearch_next_hash_base [QUERIES]
//
// EXPECT-VERDICT: ThreadLocal::next_hash_base no-harm-found
// EXPECT-RACE: ThreadLocal::next_hash_base
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

constexpr int kThreads = 2, kSlots = 16;

class ThreadLocal {
 public:
  ThreadLocal() : hash_code_(compute_next_hash()) {}
  unsigned hash_code() const { return hash_code_; }

 private:
  unsigned compute_next_hash() {
    std::lock_guard lock(mutex_);  // should be one for all
    return next_hash_base++ * 6709;
  }

  static unsigned next_hash_base;
  std::mutex mutex_;
  const unsigned hash_code_;
};
unsigned ThreadLocal::next_hash_base = 0;

/// A thread's values, by key: open addressing.
class ThreadValues {
 public:
  int& operator[](const ThreadLocal& key) {
    unsigned slot = key.hash_code() % kSlots;
    while (keys_[slot] != nullptr && keys_[slot] != &key) slot = (slot + 1) % kSlots;
    keys_[slot] = &key;
    return values_[slot];
  }

 private:
  const ThreadLocal* keys_[kSlots] = {};
  int values_[kSlots] = {};
};

const char* const kText[] = {"a race is a bug", "no race is benign", "the bug was a race",
                             "memory has a model"};

/// How often a word is in the text, counted in thread-local variables.
int search(const std::string& word) {
  ThreadLocal found, lines;
  ThreadValues values;
  for (const std::string line : kText) {
    ++values[lines];
    for (size_t at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) ++values[found];
  }
  return values[found] * 100 + values[lines];
}

int main(int count, char** arguments) {
  const int queries = count > 1 ? std::atoi(arguments[1]) : 4;
  if (queries < 1) return 2;
  const char* const words[] = {"race", "bug", "a", "model"};
  long sums[kThreads] = {};
  std::vector<std::thread> threads;
  for (long& sum : sums)
    threads.emplace_back([&sum, queries, &words] {
      for (int i = 0; i < queries; ++i) sum = sum * 3 + search(words[i % 4]), sum %= 1000003;
    });
  for (std::thread& thread : threads) thread.join();
  std::printf("found %ld %ld\n", sums[0], sums[1]);
  return sums[0] == sums[1] ? 0 : 1;
}
