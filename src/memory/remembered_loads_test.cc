// SPDX-License-Identifier: Apache-2.0
//
// A load that is answered from what its thread remembers returns what the model could have returned.
#include "memory/remembered_loads.h"

#include <gtest/gtest.h>

#include "base/testing/rounds.h"
#include "memory/testing/reference.h"
#include "memory/testing/world.h"

namespace duress::memory {
namespace {

using testing::Reference;
using testing::World;

/// Calls model and memory as ParallelAdversary does.
class Machine {
 public:
  explicit Machine(HeuristicId heuristic, u32 fair_after = 16)
      : world({.fair_after = fair_after}), heuristic_(heuristic), fair_after_(fair_after) {}

  u32 start() {
    loads_.push_back(std::make_unique<RememberedLoads>(heuristic_, fair_after_, loads_.size()));
    return world.threads.start();
  }
  void store(u32 t, u32 offset, u32 size, u64 value) {
    bool changed =
        world.model.store(world.threads.writer(t), World::at(offset, size), Tracking::kBegin, SiteId{1},
                          world.bytes() + offset, Source(reinterpret_cast<const u8*>(&value)));
    if (changed) stamps.changed(World::at(offset, size));
    world.unseen_write(offset, size, value);
  }
  void forget(u32 offset, u32 size) {
    if (world.model.forget(World::at(offset, size))) stamps.changed(World::at(offset, size));
  }
  u64 load(u32 t, u32 offset, u32 size) {
    RememberedLoads::Load load = {World::kBase + offset, size};
    u64 held = 0, value = 0;
    memcpy(&held, world.bytes() + offset, size);
    ThreadClock& clock = world.threads[t];
    again = loads_[t]->again(load, {stamps.of(load.address), clock.acquired(), held}, &value);
    if (again) return value;
    HeuristicPicker picker(heuristic_, world.chooser);
    Legal legal;
    u64 unseen = world.model.statistics().unseen;
    LoadResult result =
        world.model.load(world.threads.viewer(t), World::at(offset, size), Tracking::kBegin,
                         world.bytes() + offset, reinterpret_cast<u8*>(&value), picker, legal);
    if (world.model.statistics().unseen != unseen) stamps.changed(World::at(offset, size));
    EXPECT_TRUE(result.tracked);
    loads_[t]->remember(load, {stamps.of(load.address), clock.acquired(), held}, legal, result.run);
    return value;
  }
  const RememberedLoads& loads(u32 t) const { return *loads_[t]; }

  World world;
  ChangeStamps stamps;
  bool again = false;  // the last load was

 private:
  HeuristicId heuristic_;
  u32 fair_after_;
  std::vector<std::unique_ptr<RememberedLoads>> loads_;
};

TEST(RememberedLoads, AreForgottenWithAStore) {
  Machine machine(HeuristicId::kSequentiallyConsistent);
  u32 a = machine.start(), b = machine.start();
  EXPECT_EQ(machine.load(a, 0, 8), 0u);
  EXPECT_FALSE(machine.again);
  EXPECT_EQ(machine.load(a, 0, 8), 0u);
  EXPECT_TRUE(machine.again);
  EXPECT_EQ(machine.loads(a).reads(), 1u);
  machine.load(a, 0, 4);
  EXPECT_FALSE(machine.again) << "another size";
  machine.load(b, 0, 8);
  EXPECT_FALSE(machine.again) << "another thread";
  machine.load(a, 0, 8);
  machine.store(b, 8, 8, 7);
  machine.load(a, 0, 8);
  EXPECT_TRUE(machine.again) << "a store elsewhere";
  machine.store(b, 4, 4, 0);
  machine.load(a, 0, 8);
  EXPECT_FALSE(machine.again) << "a store to a part, though of the same value";
}

TEST(RememberedLoads, AreForgottenWhenMemoryIsNotWhatItWas) {
  Machine machine(HeuristicId::kOldest);
  u32 a = machine.start(), b = machine.start();
  machine.store(b, 0, 8, 1);
  EXPECT_EQ(machine.load(a, 0, 8), 0u);
  EXPECT_EQ(machine.load(a, 0, 8), 0u);
  EXPECT_TRUE(machine.again);
  machine.world.unseen_write(0, 8, 5);
  EXPECT_EQ(machine.load(a, 0, 8), 5u);
  EXPECT_FALSE(machine.again);
  // The history of the old values is gone, for other threads too, even if memory is as it was.
  machine.world.unseen_write(0, 8, 1);
  machine.load(b, 0, 8);
  EXPECT_EQ(machine.load(a, 0, 8), 1u);
  machine.forget(0, 8);
  machine.load(a, 0, 8);
  EXPECT_FALSE(machine.again);
}

TEST(RememberedLoads, AreForgottenByAThreadThatHasLearned) {
  Machine machine(HeuristicId::kOldest);
  u32 a = machine.start(), b = machine.start();
  machine.load(a, 8, 8);
  machine.store(b, 0, 8, 1);
  EXPECT_EQ(machine.load(a, 0, 8), 0u);
  machine.world.release(b, 0);
  EXPECT_EQ(machine.load(a, 0, 8), 0u);
  EXPECT_TRUE(machine.again);
  machine.world.acquire(a, 0);
  EXPECT_EQ(machine.load(a, 0, 8), 1u) << "the old value is hidden now";
  EXPECT_FALSE(machine.again);
  machine.load(a, 8, 8);
  EXPECT_TRUE(machine.again) << "there was one value, which stays the only one";
}

TEST(RememberedLoads, AreFair) {
  for (HeuristicId heuristic : {HeuristicId::kOldest, HeuristicId::kRandom}) {
    Machine machine(heuristic, 3);
    u32 a = machine.start(), b = machine.start();
    machine.store(b, 0, 8, 1);
    u32 stale = 0, run = 0, longest = 0;
    for (int i = 0; i < 100; ++i) {
      bool old = machine.load(a, 0, 8) == 0;
      stale += old;
      run = old ? run + 1 : 0;
      longest = run > longest ? run : longest;
    }
    EXPECT_EQ(longest, 3u);
    EXPECT_EQ(machine.loads(a).reads(), 99u);
    EXPECT_EQ(machine.loads(a).stale_reads() + machine.world.model.statistics().stale_reads, stale);
    if (heuristic == HeuristicId::kOldest) EXPECT_EQ(stale, 75u);
  }
}

TEST(RememberedLoadsProperty, WhatALoadReturnsIsLegal) {
  u64 again = 0, stale = 0;
  for (u64 seed = 1; seed <= rounds(8000); ++seed) {
    Prng prng(seed);
    Machine machine(static_cast<HeuristicId>(prng.below(5)), prng.chance(1, 2) ? 16 : 0);
    Reference reference;
    Reference::Events released[2];
    for (u32 t = 0; t < 3; ++t) {
      machine.start();
      reference.event(t);
    }
    for (int i = 0; i < 60; ++i) {
      auto t = static_cast<u32>(prng.below(3)), lock = static_cast<u32>(prng.below(2));
      u32 size = prng.chance(1, 2) ? 8 : 4;
      u32 offset =
          8 * static_cast<u32>(prng.below(2)) + (size == 4 ? 4 * static_cast<u32>(prng.below(2)) : 0);
      u64 value = prng.next();
      switch (prng.below(12)) {
        case 0:
          machine.world.release(t, lock);
          released[lock] = reference.up_to(reference.event(t));
          break;
        case 1:
          machine.world.acquire(t, lock);
          reference.event(t, released[lock]);
          break;
        case 2:
          machine.store(t, offset, size, value);
          reference.write(reference.event(t), offset, size, reinterpret_cast<const u8*>(&value));
          break;
        case 3:
          if (prng.chance(3, 4)) break;
          machine.forget(offset, size);
          reference.forget(offset, size);
          break;
        default: {
          Reference::EventId read = reference.event(t);
          u64 loaded = machine.load(t, offset, size);
          EXPECT_TRUE(reference.explained(read, offset, size, reinterpret_cast<const u8*>(&loaded)));
          again += machine.again;
          stale += machine.again && memcmp(&loaded, machine.world.bytes() + offset, size) != 0;
        }
      }
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(again, rounds(20000));
  EXPECT_GT(stale, rounds(4000));
}

}  // namespace
}  // namespace duress::memory
