// SPDX-License-Identifier: Apache-2.0
#include "memory/future_values.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "base/scoped_arena.h"
#include "memory/testing/world.h"

namespace duress::memory {
namespace {

using testing::Threads;

Source bytes(const u32& value) {
  return Source(reinterpret_cast<const u8*>(&value));
}
constexpr Extent kX = {0x1000, 0x1004};

class FutureValues : public ::testing::Test {
 protected:
  ~FutureValues() override { lock_.clear(arena_); }
  void release(u32 t) { threads_[t].release_to(lock_); }
  void acquire(u32 t) { threads_[t].acquire(lock_); }

  Arena arena_;
  Threads threads_{arena_};
  ReleaseClock lock_;
};

TEST_F(FutureValues, LoadsAreNumberedByThreadAndSite) {
  LoadCounter counter(arena_);
  EXPECT_EQ(counter.next(1, 7), 1u);
  EXPECT_EQ(counter.next(1, 7), 2u);
  EXPECT_EQ(counter.next(2, 7), 1u);
  EXPECT_EQ(counter.next(1, 8), 1u);
  EXPECT_EQ(counter.next(1, 7), 3u);
}

TEST_F(FutureValues, AConcurrentStoreIsPromised) {
  trail::Prediction out[8];
  u64 count = 0;
  FutureProfile profile(arena_, out, 8, &count);
  u32 reader = threads_.start(), writer = threads_.start();
  u128 visible = 0;
  profile.load(threads_.writer(reader), {0, 7, 1}, kX, &visible, 1);
  u32 one = 1, zero = 0;
  profile.store(threads_.writer(writer), kX, bytes(one));
  profile.store(threads_.writer(writer), kX, bytes(one));   // once is enough
  profile.store(threads_.writer(writer), kX, bytes(zero));  // visible to the load anyway
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(out[0], (trail::Prediction{0, 7, 1, 4, {1, 0}}));
}

TEST_F(FutureValues, AStoreThatHappensAfterTheLoadIsNot) {
  trail::Prediction out[8];
  u64 count = 0;
  FutureProfile profile(arena_, out, 8, &count);
  u32 reader = threads_.start(), writer = threads_.start();
  u128 visible = 0;
  profile.load(threads_.writer(reader), {0, 7, 1}, kX, &visible, 1);
  u32 one = 1;
  profile.store(threads_.writer(reader), kX, bytes(one));  // its own
  release(reader);
  acquire(writer);
  profile.store(threads_.writer(writer), kX, bytes(one));
  EXPECT_EQ(count, 0u);
}

TEST_F(FutureValues, LoadsStandInTheirOrderWhateverTheOrderOfStores) {
  trail::Prediction out[8];
  u64 count = 0;
  FutureProfile profile(arena_, out, 8, &count);
  u32 reader = threads_.start(), writer = threads_.start();
  Extent y = {0x2000, 0x2004};
  u128 visible = 0;
  profile.load(threads_.writer(reader), {0, 7, 1}, kX, &visible, 1);
  profile.load(threads_.writer(reader), {0, 8, 1}, y, &visible, 1);
  u32 one = 1, two = 2;
  profile.store(threads_.writer(writer), y, bytes(one));
  profile.store(threads_.writer(writer), kX, bytes(one));
  profile.store(threads_.writer(writer), kX, bytes(two));
  ASSERT_EQ(count, 3u);
  EXPECT_EQ(out[0], (trail::Prediction{0, 7, 1, 4, {1, 0}}));
  EXPECT_EQ(out[1], (trail::Prediction{0, 7, 1, 4, {2, 0}}));
  EXPECT_EQ(out[2], (trail::Prediction{0, 8, 1, 4, {1, 0}}));
}

TEST_F(FutureValues, OnlyAConcurrentStoreOfTheValuePays) {
  SpeculativeReads reads;
  u32 reader = threads_.start(), writer = threads_.start();
  ASSERT_TRUE(reads.add(threads_.writer(reader), kX, 1));
  u32 one = 1, two = 2;
  reads.store(threads_.writer(reader), kX, bytes(one));
  EXPECT_EQ(reads.count(), 1u) << "a thread does not pay its own debt";
  reads.store(threads_.writer(writer), kX, bytes(two));
  EXPECT_EQ(reads.count(), 1u) << "another value";
  reads.store(threads_.writer(writer), {0x1000, 0x1002}, bytes(one));
  EXPECT_EQ(reads.count(), 1u) << "a part of it";
  reads.store(threads_.writer(writer), kX, bytes(one));
  EXPECT_EQ(reads.count(), 0u);
}

TEST_F(FutureValues, WhatEveryThreadKnowsIsHopeless) {
  SpeculativeReads reads;
  u32 reader = threads_.start(), writer = threads_.start();
  ASSERT_TRUE(reads.add(threads_.writer(reader), kX, 1));
  EXPECT_FALSE(reads.hopeless(threads_));
  release(reader);
  acquire(writer);
  EXPECT_TRUE(reads.hopeless(threads_));
  u32 one = 1;
  reads.store(threads_.writer(writer), kX, bytes(one));
  EXPECT_EQ(reads.count(), 1u);
}

TEST_F(FutureValues, PredictionsAreFoundByTheirLoad) {
  std::vector<trail::Prediction> list;
  for (u32 i = 0; i < 100; ++i) list.push_back({i % 5, i / 5 % 4, i / 20 + 1, 4, {i, 0}});
  Predictions predictions(arena_, list.data(), static_cast<u32>(list.size()));
  for (const trail::Prediction& p : list) {
    const trail::Prediction* found = predictions.find({p.strand, p.site, p.ordinal});
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(*found, p);
  }
  EXPECT_EQ(predictions.find({9, 9, 9}), nullptr);
  EXPECT_EQ(Predictions(arena_, nullptr, 0).find({0, 0, 1}), nullptr);
}

TEST_F(FutureValues, OfSeveralPredictionsForOneLoadTheFirstCounts) {
  std::vector<trail::Prediction> list;
  for (u32 i = 0; i < 50; ++i) list.push_back({1, 2 + i % 2, 3, 4, {i, 0}});
  Predictions predictions(arena_, list.data(), static_cast<u32>(list.size()));
  EXPECT_EQ(predictions.find({1, 2, 3}), &list[0]);
  EXPECT_EQ(predictions.find({1, 3, 3}), &list[1]);
}

// ---- against happens-before, computed from the list of what happened

struct Event {
  enum Kind { kLoad, kStore, kRelease, kAcquire } kind = kLoad;
  u32 thread = 0;
  u32 value = 0;       // stored, or wanted by a load
  u32 count = 0;       // of the load at its thread
  std::set<u32> seen;  // visible to the load
  int release = -1;    // of an acquire: the last release of the lock
};

/// a happens before b: program order, and from a release to the acquire that comes next of it, transitively.
std::vector<std::vector<bool>> happens_before(const std::vector<Event>& events) {
  std::size_t n = events.size();
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
  for (std::size_t b = 0; b < n; ++b) {
    auto join = [&](std::size_t a) {
      before[a][b] = true;
      for (std::size_t c = 0; c < a; ++c)
        if (before[c][a]) before[c][b] = true;
    };
    for (std::size_t a = 0; a < b; ++a)
      if (events[a].thread == events[b].thread) join(a);
    if (events[b].release >= 0) join(static_cast<std::size_t>(events[b].release));
  }
  return before;
}

TEST_F(FutureValues, ProfileAndValidationAgreeWithTheDefinition) {
  u64 promised = 0, paid = 0, owed = 0;
  for (u64 seed = 1; seed <= 4000; ++seed) {
    Prng random(seed);
    ScopedArena arena;
    Threads threads(arena);
    u32 thread_count = 2 + static_cast<u32>(random.below(3));
    for (u32 t = 0; t < thread_count; ++t) threads.start();
    ReleaseClock lock;
    int last_release = -1;
    trail::Prediction out[256];
    u64 count = 0;
    FutureProfile profile(arena, out, 256, &count);
    SpeculativeReads reads;
    std::vector<Event> events;
    std::vector<u32> loads(thread_count);
    std::vector<int> debts;  // events whose load speculated
    for (u32 i = 0; i < 40; ++i) {
      Event event;
      event.kind = static_cast<Event::Kind>(random.below(4));
      event.thread = static_cast<u32>(random.below(thread_count));
      u32 t = event.thread;
      switch (event.kind) {
        case Event::kLoad: {
          event.count = ++loads[t];
          event.seen.insert(static_cast<u32>(random.below(4)));
          u128 visible = *event.seen.begin();
          profile.load(threads.writer(t), {t, 1, event.count}, kX, &visible, 1);
          event.value = static_cast<u32>(random.below(4));
          if (random.chance(1, 2) && reads.add(threads.writer(t), kX, event.value))
            debts.push_back(static_cast<int>(i));
          break;
        }
        case Event::kStore:
          event.value = static_cast<u32>(random.below(4));
          profile.store(threads.writer(t), kX, bytes(event.value));
          reads.store(threads.writer(t), kX, bytes(event.value));
          break;
        case Event::kRelease:  // adds to the lock, as a read-modify-write does: all earlier ones count
          threads[t].acquire(lock);
          event.release = last_release;
          threads[t].release_to(lock);
          last_release = static_cast<int>(i);
          break;
        case Event::kAcquire:
          threads[t].acquire(lock);
          event.release = last_release;
          break;
      }
      events.push_back(event);
    }
    std::vector<std::vector<bool>> before = happens_before(events);
    std::set<std::vector<u64>> expected, got;
    for (std::size_t a = 0; a < events.size(); ++a) {
      if (events[a].kind != Event::kLoad) continue;
      for (std::size_t b = a + 1; b < events.size(); ++b) {
        if (events[b].kind == Event::kStore && !before[a][b] && !events[a].seen.count(events[b].value))
          expected.insert({events[a].thread, events[a].count, events[b].value});
      }
    }
    for (u64 i = 0; i < count; ++i) got.insert({out[i].strand, out[i].ordinal, out[i].value[0]});
    ASSERT_EQ(got, expected) << "seed " << seed;
    ASSERT_EQ(got.size(), count) << "seed " << seed << ": a value twice";
    promised += count;
    u32 still = 0;
    for (int a : debts) {
      bool valid = false;
      for (std::size_t b = static_cast<std::size_t>(a) + 1; b < events.size(); ++b) {
        valid |= events[b].kind == Event::kStore &&
                 events[b].value == events[static_cast<std::size_t>(a)].value &&
                 !before[static_cast<std::size_t>(a)][b];
      }
      still += !valid;
      paid += valid;
    }
    ASSERT_EQ(reads.count(), still) << "seed " << seed;
    owed += still;
    lock.clear(arena);
  }
  EXPECT_GT(promised, 10000u);
  EXPECT_GT(paid, 1000u);
  EXPECT_GT(owed, 1000u);
}

}  // namespace
}  // namespace duress::memory
