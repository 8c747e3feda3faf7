// SPDX-License-Identifier: Apache-2.0
//
// RaceFuzzer, table 1, HashSet: addAll of one synchronized set walks along another one without its lock,
// while that is cleared.
//
// hash_set [ordered]: the set is cleared when the walk is over, in every run.
//
// EXPECT-PAIR: HashSet::modifications @check @clear real exception
// EXPECT-PAIR: HashSet::buckets[] @bucket @clear_bucket real exception
// EXPECT-RACE: HashSet::modifications
// EXPECT-RACE: HashSet::buckets[]
// RUN-ARGS: ordered
#include <cstdio>
#include <thread>

#include "invisible_barrier.h"
#include "synchronized_collection.h"

class HashSet : public Collection {
 public:
  void add(int value) override {
    if (contains(value)) return;
    ++modifications;
    Entry* entry = &pool_[used_++];  // there is no garbage collection: entries live as long as the set
    entry->value = value;
    entry->next = buckets[value % kBuckets];
    buckets[value % kBuckets] = entry;
  }
  bool contains(int value) override {
    for (const Entry* entry = buckets[value % kBuckets]; entry != nullptr; entry = entry->next)
      if (entry->value == value) return true;
    return false;
  }
  void clear() override {
    ++modifications;                                          // @clear
    for (int i = 0; i < kBuckets; ++i) buckets[i] = nullptr;  // @clear_bucket
  }
  std::unique_ptr<Iterator> iterator() override { return std::make_unique<Walk>(*this); }

 private:
  static constexpr int kMost = 8, kBuckets = 4;

  struct Entry {
    int value;
    Entry* next;
  };

  class Walk : public Iterator {
   public:
    explicit Walk(HashSet& set) : set_(set), expected_(set.modifications) { advance(); }
    bool has_next() override { return entry_ != nullptr; }
    int next() override {
      if (set_.modifications != expected_) throw ConcurrentModification();  // @check
      if (entry_ == nullptr) throw NoSuchElement();
      const int value = entry_->value;
      entry_ = entry_->next;
      advance();
      return value;
    }

   private:
    void advance() {
      while (entry_ == nullptr && bucket_ < kBuckets) entry_ = set_.buckets[bucket_++];  // @bucket
    }

    HashSet& set_;
    const int expected_;
    int bucket_ = 0;
    Entry* entry_ = nullptr;
  };

  Entry pool_[kMost];
  Entry* buckets[kBuckets] = {};
  int used_ = 0, modifications = 0;
};

int walked = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  HashSet sets[2];
  SynchronizedCollection first(sets[0]), second(sets[1]);
  first.add(7);
  for (int i = 0; i < 2; ++i) second.add(i);
  std::thread walking([&] {
    first.add_all(second);
    if (ordered) invisible_signal(&walked);
  });
  std::thread clearing([&] {
    if (ordered) invisible_wait(&walked, 1);
    second.clear();
  });
  walking.join();
  clearing.join();
  const bool right = first.contains(7) && (first.contains(1) || !ordered);
  std::printf("%s\n", right ? "ended" : "lost");
  return right ? 0 : 1;
}
