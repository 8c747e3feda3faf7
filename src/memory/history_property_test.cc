// SPDX-License-Identifier: Apache-2.0
//
// [GC1] and [GC2] lose nothing: on random traces a history shows each thread, with its clock of now and with
// ones it may have later, the same values as the paper's rule on a buffer that keeps everything, each entry
// with its whole vector clock. That also checks that a counter stands for a clock.
#include <gtest/gtest.h>

#include <set>

#include "base/testing/rounds.h"
#include "memory/testing/world.h"

namespace duress::memory {
namespace {

using testing::Threads;

/// [WRITE] and [READ] as they are written in the paper's figure 6.
class UncompressedBuffer {
 public:
  explicit UncompressedBuffer(u64 initial) { entries_.push_back({initial, {}}); }

  void write(u64 value, const VectorClock& clock) {
    entries_.push_back({value, {clock.data(), clock.data() + clock.size()}});
  }
  std::set<u64> visible(const VectorClock& clock) const {
    std::set<u64> values;
    std::vector<Clock> reader(clock.data(), clock.data() + clock.size());
    for (size_t i = 0; i < entries_.size(); ++i) {
      bool hidden = false;
      for (size_t j = i + 1; j < entries_.size() && !hidden; ++j) {
        hidden = before(entries_[i].clock, entries_[j].clock) && before(entries_[j].clock, reader);
      }
      if (!hidden) values.insert(entries_[i].value);
    }
    return values;
  }

 private:
  struct Entry {
    u64 value;
    std::vector<Clock> clock;
  };
  static bool before(const std::vector<Clock>& a, const std::vector<Clock>& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] > (i < b.size() ? b[i] : 0)) return false;
    }
    return true;
  }
  std::vector<Entry> entries_;
};

struct Totals {
  u64 comparisons = 0, several = 0, gc1 = 0, gc2 = 0;
};

void run_trace(u64 seed, Totals& totals) {
  Prng prng(seed);
  Arena arena;
  {
    Threads threads(arena);
    u32 most = 2 + static_cast<u32>(prng.below(3));
    for (u32 i = 0; i < 2; ++i) threads.start();
    ReleaseClock locks[2];
    Statistics statistics;
    StoreHistory history(arena, statistics, 0x1000, 8, 0, 1);
    UncompressedBuffer buffer(0);
    u64 next_value = 10, moment = 1;
    u64 sync_rate = 1 + prng.below(6);

    auto compare = [&](const VectorClock& clock) {
      std::set<u64> values;
      u32 bits = history.visible(clock);
      for (u32 i = 0; i < history.count(); ++i) {
        if (bits >> i & 1) values.insert(static_cast<u64>(history.entry(i).value));
      }
      ASSERT_EQ(values, buffer.visible(clock)) << "seed " << seed;
      ++totals.comparisons;
      totals.several += values.size() > 1;
    };

    for (int step = 0; step < 50 && !::testing::Test::HasFatalFailure(); ++step) {
      u32 t = static_cast<u32>(prng.below(threads.size()));
      ReleaseClock& lock = locks[prng.below(2)];
      if (prng.below(10) < sync_rate) {
        switch (prng.below(8)) {
          case 0:
            threads[t].release_join(lock);
            break;
          case 1:
            threads[t].fence(MemoryOrder::kRelease);
            break;
          case 2:
            threads[t].atomic_store(lock, MemoryOrder::kRelaxed);
            break;
          case 3:
            if (threads.size() < most) threads.fork(t);
            break;
          case 4:
            threads[t].release_to(lock);
            break;
          case 5:
            threads[t].atomic_rmw(lock, MemoryOrder::kAcqRel);
            break;
          default:
            threads[t].acquire(lock);
        }
        continue;
      }
      u64 value = prng.chance(1, 2) ? prng.below(2) : next_value++;  // often the same, for [GC2]
      Viewer who = threads.writer(t);
      buffer.write(value, who.clock);
      history.store(who, value, SiteId{1}, ++moment, threads);
      if (statistics.remove_oldest) break;
      compare(threads[static_cast<u32>(prng.below(threads.size()))].clock());
      // A clock that the thread may come to have: with what others and the locks know now.
      VectorClock later(arena);
      later.join(who.clock);
      if (prng.chance(1, 2)) later.join(threads[static_cast<u32>(prng.below(threads.size()))].clock());
      if (prng.chance(1, 2)) locks[prng.below(2)].join_into(later);
      compare(later);
    }
    totals.gc1 += statistics.gc1;
    totals.gc2 += statistics.gc2;
    for (ReleaseClock& lock : locks) lock.clear(arena);
  }
  arena.release_all();
}

TEST(HistoryProperty, CompressionLosesNothing) {
  Totals totals;
  for (u64 seed = 1; seed <= rounds(20000) && !HasFatalFailure(); ++seed) run_trace(seed, totals);
  // The traces are worth something only if the rules are at work in them.
  EXPECT_GT(totals.several, rounds(100000));
  EXPECT_GT(totals.gc1, rounds(20000));
  EXPECT_GT(totals.gc2, rounds(20000));
  RecordProperty("comparisons", static_cast<int>(totals.comparisons));
}

}  // namespace
}  // namespace duress::memory
