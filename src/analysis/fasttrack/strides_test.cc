// SPDX-License-Identifier: Apache-2.0
//
// A strided loop finds what its accesses find one by one; and so do accesses that repeat what was done to the
// element before.
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "analysis/fasttrack/hot_path.h"
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
  void by_runs(u32 thread, const Loop& loop, bool write, u32 number) {
    for (u64 i = 0; i < loop.count; ++i) {
      uptr at = loop.address + i * static_cast<uptr>(loop.step);
      bool done = write ? by_run<true>(threads_[thread]->ft, at, loop.size, number)
                        : by_run<false>(threads_[thread]->ft, at, loop.size, number);
      if (!done) fasttrack_.access(threads_[thread]->ft, at, loop.size, write, place(number));
    }
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
  u64 repeated_ = 0;

 private:
  struct Thread {
    Thread(Arena& arena, Slot slot) : clock(arena, slot, 1), ft(clock, &self) {}
    DuressSelf self = {};
    ThreadClock clock;
    FastTrackThread ft;
  };
  /// As ThreadSanitizer's hooks do. False: nothing was done.
  template <bool kWrite>
  bool by_run(FastTrackThread& t, uptr at, u32 size, u32 number) {
    const u32 offset = at & 7;
    if (offset + size > 8) return false;
    AccessRun& run = t.runs[offset][0];
    u64 key = ((u64{number} + 1) * 2 + kWrite) * 16 + size;
    auto mask = static_cast<u8>(((1u << size) - 1) << offset);
    if (run.key == key && run.id && fasttrack_.repeat<kWrite>(t, at, mask, run)) {
      ++repeated_;
      return true;
    }
    run.key = key;
    run.id = 0;
    if (!EpochFilter::is_open(*t.self)) return false;
    return fasttrack_.try_access<kWrite>(t, at, size, place(number), &run) == FastTrack::Outcome::kDone;
  }
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
  u64 races = 0, repeated = 0;
  for (int round = 0; round < 40; ++round) {
    Detector at_once, one_by_one, by_runs;
    for (u32 number = 0; number < 60; ++number) {
      u32 thread = static_cast<u32>(prng.below(kThreads)), object = static_cast<u32>(prng.below(2));
      if (prng.chance(2, 3)) {  // mostly with a lock, or all would race at once
        for (Detector* each : {&at_once, &one_by_one, &by_runs}) each->lock(thread, object);
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
        by_runs.by_runs(thread, loop, write, number);
      }
      if (object != ~u32{0})
        for (Detector* each : {&at_once, &one_by_one, &by_runs}) each->unlock(thread, object);
    }
    ASSERT_EQ(at_once.first_, one_by_one.first_) << round;
    ASSERT_EQ(by_runs.first_, one_by_one.first_) << round;
    races += at_once.first_.size();
    repeated += by_runs.repeated_;
  }
  EXPECT_GT(races, 10000u);
  EXPECT_GT(repeated, 10000u);
}

}  // namespace
}  // namespace duress
