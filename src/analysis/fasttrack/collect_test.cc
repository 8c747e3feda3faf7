// SPDX-License-Identifier: Apache-2.0
//
// Collections beside threads that take new chunks of access records: a chunk belongs to one thread. If it
// were another's, too, the records of one would stand for accesses of the other, and be reported.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "analysis/fasttrack/fasttrack_test.h"

namespace duress {
namespace {

constexpr uptr kCollectHeap = 0x7f1234560000, kCollectLock = 0x7f1234000000;
constexpr u32 kCollectThreads = 8, kGranules = 64, kCollectSteps = 400'000;

class Collections : public FastTrackFixture {
 protected:
  Collections() : FastTrackFixture(kCollectThreads) {}
  void race(const Race&) override { ++reported_; }

  /// Accesses memory of its own only, from ever new places, in short epochs.
  void work(u32 i) {
    Thread& t = *threads_[i];
    auto& released = syncs_.get(kCollectLock + 64 * i, 0)->released;
    for (u32 step = 0; step < kCollectSteps; ++step) {
      const uptr at = kCollectHeap + 0x10000 * i + 8 * (step % kGranules);
      fasttrack_.access(t.ft, at, 8, step % 3 == 0, {SiteId{kFirstModuleSite + step % 7}, StackId{step}});
      if (step % 5 != 0) continue;
      t.clock.release_to(released);
      FastTrack::after_sync(t.ft);
    }
  }

  std::atomic<u32> reported_{0};
};

TEST_F(Collections, LeaveEachThreadTheChunkThatItTakes) {
  fasttrack_.set_chunk_budget(kCollectThreads + 1);
  std::vector<std::thread> threads;
  for (u32 i = 0; i < kCollectThreads; ++i) threads.emplace_back([this, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(fasttrack_.collections(), 10u);
  EXPECT_EQ(reported_, 0u);
}

}  // namespace
}  // namespace duress
