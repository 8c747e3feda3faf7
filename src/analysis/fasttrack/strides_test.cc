// SPDX-License-Identifier: Apache-2.0
//
// A strided loop finds what its accesses find one by one.
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "analysis/fasttrack/fasttrack.h"
#include "base/prng.h"

namespace duress {
namespace {

constexpr uptr kArea = 0x7f1234560000;
constexpr u64 kAreaBytes = 4096;
constexpr int kThreads = 3;

struct Loop {
  uptr address;
  u64 count;
  i64 step;
  u32 size;
};

/// Remembers the first race of every byte, by the number of the loop that is part of it.
class Detector final : public RaceSink {
 public:
  Detector() : syncs_(arena_), fasttrack_(arena_, shadow_, syncs_, *this) {
    EXPECT_TRUE(shadow_.open(0));
    fasttrack_.set_chunk_budget(4);  // with collections
    for (u32 i = 0; i < kThreads; ++i) {
      threads_[i] = std::make_unique<Thread>(arena_, static_cast<Slot>(i));
      fasttrack_.attach(threads_[i]->ft);
    }
  }
  ~Detector() {
    for (auto& t : threads_) fasttrack_.detach(t->ft);
    shadow_.close();
  }

  void race(const Race& race) override {
    for (u32 i = 0; i < race.size; ++i) first_.emplace(race.address + i, raw(race.later.place.site));
  }
  void at_once(u32 thread, const Loop& loop, bool write, u32 number) {
    fasttrack_.strided(threads_[thread]->ft, loop.address, loop.count, loop.step, loop.size, write,
                       place(number));
  }
  void one_by_one(u32 thread, const Loop& loop, bool write, u32 number) {
    for (u64 i = 0; i < loop.count; ++i)
      fasttrack_.access(threads_[thread]->ft, loop.address + i * static_cast<uptr>(loop.step), loop.size,
                        write, place(number));
  }
  void lock(u32 thread, u32 object) {
    threads_[thread]->clock.acquire(syncs_.get(kArea + kAreaBytes + 64 * object, 0)->released);
    FastTrack::after_sync(threads_[thread]->ft);
  }
  void unlock(u32 thread, u32 object) {
    threads_[thread]->clock.release_to(syncs_.get(kArea + kAreaBytes + 64 * object, 0)->released);
    FastTrack::after_sync(threads_[thread]->ft);
  }

  std::map<uptr, u32> first_;

 private:
  struct Thread {
    Thread(Arena& arena, Slot slot) : clock(arena, slot, 1), ft(clock, &self) {}
    DuressSelf self = {};
    ThreadClock clock;
    FastTrackThread ft;
  };
  static Place place(u32 number) { return {static_cast<SiteId>(kFirstModuleSite + number), StackId{0}}; }

  ShadowMap shadow_;
  Arena arena_;
  SyncTable syncs_;
  FastTrack fasttrack_;
  std::unique_ptr<Thread> threads_[kThreads];
};

TEST(Strides, FindWhatTheirAccessesFind) {
  constexpr i64 kSteps[] = {8, 16, 24, 32, 64, 72, 128, 256, 4, 12, -8, -16, -72};
  Prng prng(7);
  u64 races = 0;
  for (int round = 0; round < 40; ++round) {
    Detector at_once, one_by_one;
    for (u32 number = 0; number < 60; ++number) {
      u32 thread = static_cast<u32>(prng.below(kThreads)), object = static_cast<u32>(prng.below(2));
      if (prng.chance(2, 3)) {  // mostly with a lock, or all would race at once
        for (Detector* each : {&at_once, &one_by_one}) each->lock(thread, object);
      } else {
        object = ~u32{0};
      }
      for (u64 loops = 1 + prng.below(3); loops--;) {
        i64 step = kSteps[prng.below(std::size(kSteps))];
        u64 span = static_cast<u64>(step < 0 ? -step : step);
        u32 size = step % 8 == 0 ? 1u << prng.below(4) : 4;
        u64 count = 1 + prng.below((kAreaBytes - 16) / span);
        uptr first = kArea + prng.below((kAreaBytes - 8 - count * span) / 4 + 1) * 4;
        if (step % 8 == 0) first &= ~uptr{7};
        if (step < 0) first += (count - 1) * span;
        Loop loop{first, count, step, size};
        bool write = prng.chance(1, 3);
        at_once.at_once(thread, loop, write, number);
        one_by_one.one_by_one(thread, loop, write, number);
      }
      if (object != ~u32{0})
        for (Detector* each : {&at_once, &one_by_one}) each->unlock(thread, object);
    }
    ASSERT_EQ(at_once.first_, one_by_one.first_) << round;
    races += at_once.first_.size();
  }
  EXPECT_GT(races, 10000u);
}

}  // namespace
}  // namespace duress
