// SPDX-License-Identifier: Apache-2.0
//
// Whatever a load returns is legal under the declarative rule, on random traces of two to four threads with
// locks, accesses of all sizes, range writes, freed memory and writes that nobody saw. See Reference.
#include <gtest/gtest.h>

#include "base/testing/rounds.h"
#include "memory/testing/reference.h"
#include "memory/testing/world.h"

namespace duress::memory {
namespace {

using testing::Reference;
using testing::World;

struct Totals {
  u64 loads = 0, open = 0, torn = 0, race_free = 0, exact = 0, removed = 0, splits = 0, unseen = 0;
};

/// Lets a heuristic pick, after it has checked all that it could have picked.
class CheckingPicker final : public Picker {
 public:
  CheckingPicker(const Reference& reference, Reference::EventId read, HeuristicId heuristic, Chooser& chooser)
      : reference_(reference), read_(read), heuristic_(heuristic), chooser_(chooser) {}

  u32 pick(const Legal& legal) override {
    auto offset = static_cast<u32>(legal.address - World::kBase);
    for (u32 i = 0; i < legal.count; ++i) {
      u128 value = legal.values[i].value;
      EXPECT_TRUE(reference_.explained(read_, offset, legal.size, reinterpret_cast<const u8*>(&value)))
          << "value " << i << " of " << legal.count << " at " << offset << ", size " << legal.size;
      values.insert(static_cast<u64>(value));
    }
    return pick_value(heuristic_, legal, chooser_);
  }
  std::set<u64> values;

 private:
  const Reference& reference_;
  Reference::EventId read_;
  HeuristicId heuristic_;
  Chooser& chooser_;
};

class RandomTrace {
 public:
  RandomTrace(u64 seed, Totals& totals)
      : prng_(seed),
        totals_(totals),
        uniform_(prng_.chance(1, 4)),
        tear_(uniform_ ? 8 : 4u << prng_.below(3)),
        world_({.table = {.tear = tear_}, .fair_after = prng_.chance(1, 2) ? 16u : 0u}),
        heuristic_(static_cast<HeuristicId>(prng_.below(5))),
        locations_(1 + static_cast<u32>(prng_.below(3))),
        most_threads_(2 + static_cast<u32>(prng_.below(3))),
        sync_rate_(1 + prng_.below(5)),
        full_(prng_.chance(1, 20)) {
    world_.chooser = testing::SeededChooser(seed);
    for (u32 t = 0; t < 2; ++t) {
      world_.threads.start();
      reference_.event(t);
    }
  }

  void run() {
    int steps = full_ ? 150 : 60;
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) step();
    totals_.removed += world_.model.statistics().remove_oldest;
    totals_.splits += world_.model.statistics().splits;
    totals_.unseen += world_.model.statistics().unseen;
  }

 private:
  u32 draw(u64 n) { return static_cast<u32>(prng_.below(n)); }

  void step() {
    u32 t = draw(world_.threads.size());
    if (!full_ && prng_.below(12) < sync_rate_) return synchronise(t);
    u32 size = uniform_ ? 8 : draw_size();
    u32 offset = 16 * draw(locations_) + (uniform_ ? 0 : draw(2) ? draw(2) * 4 : draw(9));
    if (uniform_ || prng_.chance(4, 5))
      return prng_.chance(1, full_ ? 8 : 2) ? load(t, offset, size) : store(t, offset, size);
    switch (draw(4)) {
      case 0:
        return range_write(t);
      case 1:
        return fill(t);
      case 2:
        return unseen_write(offset, size < 8 ? size : 8);
      default:
        world_.forget(offset, size);
        reference_.forget(offset, size);
    }
  }

  u32 draw_size() {
    static constexpr u32 kSizes[] = {1, 2, 4, 4, 4, 8, 8, 8, 16, 3, 5, 12};
    return kSizes[prng_.below(std::size(kSizes))];
  }

  void synchronise(u32 t) {
    u32 lock = draw(2);
    switch (draw(6)) {
      case 0:
        if (world_.threads.size() < most_threads_) {
          Reference::EventId fork = reference_.event(t);
          reference_.fork(fork, world_.threads.fork(t));
        }
        break;
      case 1:  // as a read-unlock: what was released before stays
        world_.threads[t].release_join(world_.locks[lock]);
        released_[lock] |= reference_.up_to(reference_.event(t));
        break;
      case 2:
      case 3:
        world_.release(t, lock);
        released_[lock] = reference_.up_to(reference_.event(t));
        break;
      default:
        world_.acquire(t, lock);
        reference_.event(t, released_[lock]);
    }
  }

  void new_bytes(u8* bytes, u32 size) {
    u8 stamp = prng_.chance(1, 3) ? static_cast<u8>(draw(2)) : ++stamp_;
    for (u32 i = 0; i < size; ++i) bytes[i] = stamp;
  }

  void store(u32 t, u32 offset, u32 size) {
    u8 bytes[16];
    new_bytes(bytes, size);
    Tracking tracking = uniform_ || prng_.chance(3, 4) ? Tracking::kBegin : Tracking::kOnlyTracked;
    world_.store_bytes(t, offset, size, bytes, tracking);
    reference_.write(reference_.event(t), offset, size, bytes);
  }

  void range_write(u32 t) {
    u32 offset = draw(40), size = 1 + draw(24);
    u8 bytes[24];
    for (u8& b : bytes) b = static_cast<u8>(prng_.next());
    world_.store_bytes(t, offset, size, bytes, Tracking::kOnlyTracked);
    reference_.write(reference_.event(t), offset, size, bytes);
  }

  void fill(u32 t) {
    u32 offset = draw(40), size = 1 + draw(24);
    u8 bytes[24];
    memset(bytes, ++stamp_, sizeof bytes);
    world_.fill(t, offset, size, bytes[0]);
    reference_.write(reference_.event(t), offset, size, bytes);
  }

  void unseen_write(u32 offset, u32 size) {
    u64 value = prng_.next();
    world_.unseen_write(offset, size, value);
    reference_.write(reference_.unseen_event(), offset, size, reinterpret_cast<const u8*>(&value));
  }

  void load(u32 t, u32 offset, u32 size) {
    Reference::EventId read = reference_.event(t);
    CheckingPicker picker(reference_, read, heuristic_, world_.chooser);
    Tracking tracking = uniform_ || prng_.chance(3, 4) ? Tracking::kBegin : Tracking::kOnlyTracked;
    u8 bytes[16];
    LoadResult result = world_.load_bytes(t, offset, size, bytes, picker, tracking);
    ++totals_.loads;
    totals_.open += result.open > 0;

    // Each piece by itself, and each byte.
    bool race_free = true;
    for (u32 at = 0; at < size;) {
      u32 end = std::min(size, (offset + at) / tear_ * tear_ + tear_ - offset);
      EXPECT_TRUE(reference_.explained(read, offset + at, end - at, bytes + at));
      at = end;
    }
    for (u32 i = 0; i < size; ++i) {
      std::set<u8> legal = reference_.legal_bytes(read, offset + i);
      EXPECT_TRUE(legal.count(bytes[i]));
      race_free &= legal.size() == 1;
    }
    if (race_free) {  // then there is nothing to choose, and memory has it
      ++totals_.race_free;
      EXPECT_EQ(result.open, 0u);
    }
    bool is_memory = memcmp(bytes, world_.bytes() + offset, size) == 0;
    EXPECT_EQ(result.stale, !is_memory);
    if (heuristic_ == HeuristicId::kSequentiallyConsistent || result.open == 0) EXPECT_TRUE(is_memory);
    totals_.torn += size > 1 && !reference_.explained(read, offset, size, bytes);

    // Same sizes throughout: nothing that the rule allows is missing either.
    if (uniform_ && !world_.model.statistics().remove_oldest && !result.forced) {
      if (picker.values.empty()) picker.values.insert(value_of(bytes));
      EXPECT_EQ(picker.values, reference_.legal_values(read, offset, 8));
      ++totals_.exact;
    }
  }

  static u64 value_of(const u8* bytes) {
    u64 value;
    memcpy(&value, bytes, sizeof value);
    return value;
  }

  Prng prng_;
  Totals& totals_;
  bool uniform_;  // only aligned accesses of one size, everything tracked
  u32 tear_;
  World world_;
  Reference reference_;
  Reference::Events released_[2];
  HeuristicId heuristic_;
  u32 locations_, most_threads_;
  u64 sync_rate_;
  bool full_;  // many stores and no synchronisation, so that histories fill
  u8 stamp_ = 2;
};

TEST(ModelProperty, WhatALoadReturnsIsLegal) {
  Totals totals;
  for (u64 seed = 1; seed <= rounds(24000); ++seed) {
    RandomTrace(seed, totals).run();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  // The traces are worth something only if the interesting things happen in them.
  EXPECT_GT(totals.loads, rounds(300000));
  EXPECT_GT(totals.open, rounds(100000));
  EXPECT_GT(totals.race_free, rounds(20000));
  EXPECT_GT(totals.torn, rounds(2000));
  EXPECT_GT(totals.exact, rounds(50000));
  EXPECT_GT(totals.removed, rounds(1000));
  EXPECT_GT(totals.splits, rounds(10000));
  EXPECT_GT(totals.unseen, rounds(10000));
  RecordProperty("loads", static_cast<int>(totals.loads));
  RecordProperty("open", static_cast<int>(totals.open));
  RecordProperty("torn", static_cast<int>(totals.torn));
  RecordProperty("race_free", static_cast<int>(totals.race_free));
  RecordProperty("exact", static_cast<int>(totals.exact));
}

}  // namespace
}  // namespace duress::memory
