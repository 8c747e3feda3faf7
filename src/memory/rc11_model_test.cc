// SPDX-License-Identifier: Apache-2.0
#include "memory/rc11_model.h"

#include <gtest/gtest.h>

#include "base/scoped_arena.h"
#include "memory/testing/rc11_program.h"
#include "memory/testing/world.h"

namespace duress::memory {
namespace {

using testing::kAcq;
using testing::kRel;
using testing::kRlx;
using testing::kSc;
using testing::Threads;

/// Threads and some objects. Loads pick the oldest store, stores go to the end, unless a test says otherwise.
class Rc11ModelTest : public ::testing::Test, protected Rc11Picker {
 protected:
  static constexpr uptr kBase = 0x20000;

  Rc11ModelTest() { reset({}); }
  ~Rc11ModelTest() override {
    for (ReleaseClock& clock : released_) clock.clear(arena_);
  }
  void reset(Rc11Model::Options options) {
    options.buckets = 16;
    threads_ = std::make_unique<Threads>(arena_);
    for (int i = 0; i < 3; ++i) threads_->start();
    model_ = std::make_unique<Rc11Model>(arena_, *threads_, options);
  }

  u32 read(const Legal& legal) override {
    legal_ = legal;
    return oldest_ ? legal.count - 1 : 0;
  }
  u32 place(u32 places, u32 forward) override {
    places_ = places;
    forward_ = forward;
    return early_ ? places - 1 : 0;
  }

  Rc11Model::Object object(u32 i, u32 size = 8) { return {kBase + 16 * i, size, SiteId{7}, released_[i]}; }
  u128 load(u32 t, u32 i, MemoryOrder order = kRlx) {
    legal_.count = 0;
    return (last_ = model_->load((*threads_)[t], object(i), order, memory_[i], *this)).value;
  }
  void store(u32 t, u32 i, u128 value, MemoryOrder order = kRlx) {
    places_ = 0;
    if (model_->store((*threads_)[t], object(i), order, memory_[i], value, *this).newest) memory_[i] = value;
  }
  const Rc11Statistics& statistics() const { return model_->statistics(); }

  ScopedArena arena_;
  std::unique_ptr<Threads> threads_;
  std::unique_ptr<Rc11Model> model_;
  u128 memory_[4] = {};
  ReleaseClock released_[4];
  Rc11Model::Read last_ = {};
  Legal legal_;
  bool oldest_ = true, early_ = false;
  u32 places_ = 0, forward_ = 0;
};

TEST_F(Rc11ModelTest, ALoadMayReturnAnOlderStore) {
  store(0, 0, 1);
  store(0, 0, 2);
  EXPECT_EQ(load(1, 0), 0u);
  ASSERT_EQ(legal_.count, 3u);
  EXPECT_EQ(legal_.values[0].value, 2u);
  EXPECT_EQ(legal_.values[2].age, 2u);
  EXPECT_TRUE(last_.stale);
  EXPECT_EQ(load(0, 0), 2u);  // not its own
  EXPECT_FALSE(last_.stale);
  EXPECT_EQ(legal_.count, 0u);
}

TEST_F(Rc11ModelTest, WhatWasReadHidesWhatCameBefore) {
  store(0, 0, 1);
  store(0, 0, 2);
  oldest_ = false;
  EXPECT_EQ(load(1, 0), 2u);
  oldest_ = true;
  EXPECT_EQ(load(1, 0), 2u);
  EXPECT_EQ(load(2, 0), 0u);
}

TEST_F(Rc11ModelTest, AnAcquireLearnsFromTheStoreThatItRead) {
  store(0, 1, 1);        // the message
  store(0, 0, 1, kRel);  // it is there
  store(1, 0, 2, kRlx);  // somebody else's, later: releases nothing
  oldest_ = false;
  EXPECT_EQ(load(2, 0, kAcq), 2u);
  EXPECT_EQ((*threads_)[2].get((*threads_)[0].slot()), 0u);  // knows nothing of thread 0
  oldest_ = true;
  EXPECT_EQ(load(2, 1), 0u);

  reset({});
  memory_[0] = memory_[1] = 0;
  for (ReleaseClock& clock : released_) clock.clear(arena_);
  store(0, 1, 1);
  store(0, 0, 1, kRel);
  store(1, 0, 2, kRlx);
  struct Middle final : Rc11Picker {
    u32 read(const Legal& legal) override { return legal.count - 2; }
    u32 place(u32, u32) override { return 0; }
  } middle;
  EXPECT_EQ(model_->load((*threads_)[2], object(0), kAcq, memory_[0], middle).value, 1u);
  EXPECT_EQ(load(2, 1), 1u);
}

TEST_F(Rc11ModelTest, AStoreMayComeBeforeOthers) {
  store(0, 0, 1);
  early_ = true;
  store(1, 0, 2);
  EXPECT_EQ(places_, 2u);
  EXPECT_EQ(memory_[0], 1u);  // the newest in modification order
  EXPECT_EQ(load(1, 0), 2u);  // the oldest that it may read is its own
  EXPECT_EQ(load(2, 0), 0u);
  EXPECT_EQ(legal_.count, 3u);
  EXPECT_EQ(statistics().early_writes, 1u);
}

TEST_F(Rc11ModelTest, NothingComesBetweenAnUpdateAndWhatItRead) {
  struct Add final : Update {
    Change apply(u128 old) const override { return {old + 1, true}; }
  } add;
  model_->update((*threads_)[0], object(0), kRlx, kRlx, memory_[0], add, *this);
  memory_[0] = 1;
  early_ = true;
  store(1, 0, 5);
  EXPECT_EQ(places_, 0u);  // the end was the only place
  EXPECT_EQ(memory_[0], 5u);
  // Another update may come before that store, not before the first update.
  Rc11Model::Updated updated = model_->update((*threads_)[2], object(0), kRlx, kRlx, memory_[0], add, *this);
  EXPECT_EQ(updated.read.value, 1u);
  EXPECT_EQ(updated.value, 2u);
  EXPECT_FALSE(updated.written.newest);
}

TEST_F(Rc11ModelTest, SeqCstOperationsThatWouldReverseTheirOrderAreMarked) {
  store(0, 0, 1, kSc);
  EXPECT_EQ(load(1, 0, kSc), 0u);
  EXPECT_FALSE(legal_.values[0].reversed);
  EXPECT_TRUE(legal_.values[1].reversed);
  EXPECT_EQ(load(2, 0, kRlx), 0u);
  EXPECT_FALSE(legal_.values[1].reversed);
  store(1, 0, 2, kSc);
  EXPECT_EQ(places_, 2u);
  EXPECT_EQ(forward_, 1u);
}

TEST_F(Rc11ModelTest, Fairness) {
  reset({.fair_after = 3});
  store(0, 0, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(load(1, 0), 0u);
  EXPECT_EQ(load(1, 0), 1u);
  EXPECT_EQ(statistics().fair_reads, 1u);
  store(0, 0, 2);
  EXPECT_EQ(load(1, 0), 1u);  // and the count begins anew
}

TEST_F(Rc11ModelTest, WhatMemoryDoesNotHoldIsNotBelieved) {
  store(0, 0, 1);
  memory_[0] = 9;  // a library's doing
  EXPECT_EQ(load(1, 0), 9u);
  EXPECT_EQ(legal_.count, 0u);
  EXPECT_EQ(statistics().unseen, 1u);
  store(0, 0, 1);
  EXPECT_EQ(load(1, 0), 9u);  // from here on as always
}

TEST_F(Rc11ModelTest, AccessesOfOtherSizesDropTheHistory) {
  store(0, 0, 1);
  EXPECT_EQ(model_->load((*threads_)[1], object(0, 4), kRlx, 1, *this).value, 1u);
  EXPECT_EQ(statistics().dropped, 1u);
  EXPECT_EQ(load(1, 0), 1u);
  EXPECT_EQ(legal_.count, 0u);
}

TEST_F(Rc11ModelTest, FreedMemoryIsForgotten) {
  store(0, 0, 1);
  model_->forget({kBase, kBase + (1 << 20)});
  EXPECT_EQ(load(1, 0), 1u);
  EXPECT_EQ(legal_.count, 0u);
  store(0, 1, 1);
  model_->forget({kBase + 32, kBase + 64});
  EXPECT_EQ(load(1, 1), 0u);  // its neighbours stay
}

TEST_F(Rc11ModelTest, AHistoryHasAnEnd) {
  for (u64 i = 1; i <= 40; ++i) store(0, 0, i);
  EXPECT_EQ(load(1, 0), 9u);
  EXPECT_EQ(legal_.count, 32u);
  EXPECT_EQ(statistics().remove_oldest, 9u);
  oldest_ = false;
  load(1, 0);
  load(2, 0);
  store(0, 0, 41);  // all threads know the one before: nothing older can be read
  EXPECT_EQ(statistics().remove_oldest, 9u);
}

TEST_F(Rc11ModelTest, NoRoomForMoreLocations) {
  reset({.most_locations = 1});
  store(0, 0, 1, kSc);
  store(0, 1, 1, kSc);  // sequentially consistent from here on, and S with it
  EXPECT_EQ(load(1, 1, kSc), 1u);
  EXPECT_EQ(load(1, 0, kSc), 1u);
  EXPECT_EQ((*threads_)[1].get((*threads_)[0].slot()), 2u);  // it has learnt of the second store
}

TEST_F(Rc11ModelTest, SixteenBytes) {
  u128 wide = u128{1} << 100 | 3;
  ReleaseClock released;
  Rc11Model::Object object = {kBase + 512, 16, SiteId{1}, released};
  model_->store((*threads_)[0], object, kRlx, 0, wide, *this);
  oldest_ = false;
  EXPECT_TRUE(model_->load((*threads_)[1], object, kRlx, wide, *this).value == wide);
  oldest_ = true;
  EXPECT_TRUE(model_->load((*threads_)[2], object, kRlx, wide, *this).value == 0);
  released.clear(arena_);
}

}  // namespace
}  // namespace duress::memory
