// SPDX-License-Identifier: Apache-2.0
//
// For tests: FastTrack with threads of which the test says what they do, in one thread or in threads of its
// own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "analysis/fasttrack/fasttrack.h"

namespace duress {

class FastTrackFixture : public ::testing::Test, public RaceSink {
 protected:
  struct Thread {
    Thread(Arena& arena, Slot slot) : clock(arena, slot, 1), ft(clock, &self) {}
    DuressSelf self = {};
    ThreadClock clock;
    FastTrackThread ft;
  };

  explicit FastTrackFixture(u32 threads) : syncs_(arena_), fasttrack_(arena_, shadow_, syncs_, *this) {
    EXPECT_TRUE(shadow_.open(0));
    for (u32 i = 0; i < threads; ++i) {
      threads_.push_back(std::make_unique<Thread>(arena_, static_cast<Slot>(i)));
      fasttrack_.attach(threads_.back()->ft);
    }
  }
  ~FastTrackFixture() override {
    for (auto& t : threads_) fasttrack_.detach(t->ft);
    shadow_.close();
  }

  void race(const Race& race) override { races_.push_back(race); }
  FastTrackThread& thread(u32 i) { return threads_[i]->ft; }

  ShadowMap shadow_;
  Arena arena_;
  SyncTable syncs_;
  FastTrack fasttrack_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Race> races_;
};

}  // namespace duress
