// SPDX-License-Identifier: Apache-2.0
//
// On free threads the histories are under one lock, and a variable in the innermost loop is loaded again and
// again while nothing stores to it: bench/classify's tsp took 85 ns for such a load, a third of it waiting
// for the lock. What a load may return changes only with a store to the word, or with what its thread has
// acquired. So each thread remembers what its last loads could have returned, and as long as neither has
// happened it picks again without asking the model.
#pragma once

#include <atomic>

#include "base/prng.h"
#include "memory/heuristics.h"
#include "memory/location_table.h"

namespace duress::memory {

/// Says of words of 8 bytes whether a history there has changed.
/// Threads: changed() under the lock of the model, of() anywhere. A store calls changed() before it writes to
/// memory: who finds the old stamp and then the old value in memory has read before that store.
class ChangeStamps {
 public:
  u64 of(uptr address) const {
    return words_[index(address)].load(std::memory_order_acquire) + wide_.load(std::memory_order_acquire);
  }
  void changed(Extent extent) {
    if (extent.size() > 64) return add_one(wide_);
    for (uptr at = extent.begin & ~uptr{7}; at < extent.end; at += 8) add_one(words_[index(at)]);
  }

 private:
  static constexpr u32 kBits = 12;
  static u64 index(uptr address) { return address / 8 * 0x9e3779b97f4a7c15u >> (64 - kBits); }
  static void add_one(std::atomic<u64>& stamp) {
    stamp.store(stamp.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  std::atomic<u64> words_[1 << kBits] = {};
  std::atomic<u64> wide_{0};
};

/// Threads: its own thread only; reads() and stale_reads() anywhere.
class RememberedLoads final : Chooser {
 public:
  /// Only loads that lie in one word of 8 bytes are remembered.
  struct Load {
    uptr address;
    u32 size;
    bool in_one_word() const { return (address & 7) + size <= 8; }
  };
  /// What must be the same for a load to have the same legal values.
  struct Moment {
    u64 stamp;     // ChangeStamps::of() the address; read before `memory`
    u64 acquired;  // ThreadClock::acquired()
    u64 memory;    // what memory holds there: else something unseen wrote
  };

  /// `fair_after` as in StaleModel::Options.
  RememberedLoads(HeuristicId heuristic, u32 fair_after, u64 seed);

  /// Whether the load is remembered and nothing has changed. Then *value is one of its legal values.
  bool again(const Load& load, const Moment& now, u64* value) {
    Entry& entry = entry_of(load);
    if (entry.load.address != load.address || entry.load.size != load.size || entry.then.stamp != now.stamp ||
        entry.then.memory != now.memory)
      return false;
    *value = now.memory;
    // A single value stays the only one, whatever the thread acquires: that hides values, and shows none.
    if (entry.count > 1) {
      if (entry.then.acquired != now.acquired) return false;
      *value = pick_again(entry);
    }
    add_one(reads_);
    return true;
  }

  /// The model answered the load. `run`: so many stale loads in a row, this one included.
  void remember(const Load& load, const Moment& then, const Legal& legal, u32 run);
  /// Another thread begins to use this.
  void clear();

  u64 reads() const { return reads_.load(std::memory_order_relaxed); }
  u64 stale_reads() const { return stale_reads_.load(std::memory_order_relaxed); }

  RememberedLoads* next = nullptr;       // of all, under the lock of the model
  RememberedLoads* next_free = nullptr;  // likewise

 private:
  static constexpr u32 kBits = 8;  // moldyn reads 83 words in its innermost loop
  struct Value {
    u64 value;
    SiteId site;
    u16 age;
    bool same_as_last;
  };
  struct Entry {
    Load load;
    Moment then;
    u32 count, run;
    u32 fixed;  // the pick of a heuristic that always makes the same one
  };

  Entry& entry_of(const Load& load) {
    return entries_[load.address / 8 * 0x9e3779b97f4a7c15u >> (64 - kBits)];
  }
  static void add_one(std::atomic<u64>& count) {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  Value* values_of(const Entry& entry) { return values_[&entry - entries_]; }
  u64 pick_again(Entry& entry);
  u32 choose(u32 count) override { return static_cast<u32>(prng_.below(count)); }
  bool picks_the_same() const {
    return heuristic_ == HeuristicId::kSequentiallyConsistent || heuristic_ == HeuristicId::kOldest;
  }

  HeuristicId heuristic_;
  u32 fair_after_;
  Prng prng_;
  std::atomic<u64> reads_{0}, stale_reads_{0};
  Entry entries_[1 << kBits];
  Value values_[1 << kBits][Legal::kMost];  // 128 KB that are only touched where loads race
};

}  // namespace duress::memory
