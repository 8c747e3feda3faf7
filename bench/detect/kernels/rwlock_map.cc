// SPDX-License-Identifier: Apache-2.0
//
// A map behind one read-write lock that is mostly read: of `work` operations on `data` keys one in 64 takes
// the lock for writing and moves a part of the value, or removes or adds a key.
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "../kernel.h"

namespace {
struct Account {
  long cash, shares;  // together always what the key says
};

class Registry {
 public:
  explicit Registry(long keys) {
    accounts_.reserve(keys);
    for (long key = 0; key < keys; key++) accounts_[key] = {key % 1000, 1000};
  }

  /// What the key has altogether, or nothing.
  long total(uint64_t key) const {
    std::shared_lock lock(mutex_);
    auto found = accounts_.find(key);
    return found == accounts_.end() ? 0 : found->second.cash + found->second.shares;
  }
  void move(uint64_t key, long amount) {
    std::unique_lock lock(mutex_);
    auto found = accounts_.find(key);
    if (found == accounts_.end()) return;
    found->second.cash -= amount;
    found->second.shares += amount;
  }
  void add_or_remove(uint64_t key) {
    std::unique_lock lock(mutex_);
    if (accounts_.erase(key) == 0) accounts_[key] = {0, 0};
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<uint64_t, Account> accounts_;
};
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 1000000, 8000);
  Registry registry(data);
  std::vector<uint64_t> sums(threads);
  const long each = work / threads;
  bench::parallel(threads, [&, data = data](int t) {
    bench::Random random(t + 1);
    uint64_t sum = 0;
    for (long i = 0; i < each; i++) {
      const uint64_t dice = random.next(), key = (dice >> 16) % data;
      if (dice % 128 == 0) {
        registry.move(key, static_cast<long>(dice >> 8 & 15));
      } else if (dice % 128 == 1) {
        registry.add_or_remove(data + key);  // not what is added up
      } else {
        sum += registry.total(key);
      }
    }
    sums[t] = sum;
  });
  uint64_t checksum = 0;
  for (uint64_t sum : sums) checksum = checksum * 31 + sum;
  return bench::finish(checksum);
}
