// SPDX-License-Identifier: Apache-2.0
//
// Signatures tell executions apart by who read from whom, and by nothing else.
#include "sched/observer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>
#include <new>
#include <set>
#include <vector>

namespace duress::sched {
namespace {

struct Event {
  u32 strand;
  OpKind kind;
  uptr object;
  uptr place;
};
constexpr OpKind R = OpKind::kAtomicRead, W = OpKind::kAtomicWrite, L = OpKind::kLock;

class ObserverTest : public testing::Test {
 protected:
  struct Seen {
    u64 signature;
    std::set<u32> pairs;
  };

  Seen observe(const std::vector<Event>& events) {
    std::vector<StrandView> strands(8);
    observer_->start(true);
    for (const Event& event : events) {
      strands[event.strand].next = {event.kind, 4, event.object, 0, event.place};
      observer_->performs(strands[event.strand]);
    }
    *record_ = {};
    observer_->finish(*record_);
    EXPECT_LE(record_->observed_pair_count, trail::kMostObservedPairs);
    return {record_->signature,
            {record_->observed_pairs(), record_->observed_pairs() + record_->observed_pair_count}};
  }

  std::unique_ptr<Observer> observer_ = std::make_unique<Observer>();
  trail::Record* record_ = new (mmap(nullptr, trail::kRecordBytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) trail::Record;
};

TEST_F(ObserverTest, IndependentOperationsHaveNoOrder) {
  Seen one = observe({{0, W, 0x10, 1}, {1, W, 0x20, 2}, {0, R, 0x10, 3}});
  Seen other = observe({{0, W, 0x10, 1}, {0, R, 0x10, 3}, {1, W, 0x20, 2}});
  EXPECT_EQ(one.signature, other.signature);
  EXPECT_EQ(one.pairs, other.pairs);
}

TEST_F(ObserverTest, WhomAReadReadsFromCounts) {
  Seen before = observe({{0, R, 0x10, 1}, {1, W, 0x10, 2}});
  Seen after = observe({{1, W, 0x10, 2}, {0, R, 0x10, 1}});
  EXPECT_NE(before.signature, after.signature);
  EXPECT_NE(before.pairs, after.pairs);
}

TEST_F(ObserverTest, EqualThreadsMayChangeRoles) {
  Seen one = observe({{1, R, 0x10, 1}, {1, W, 0x10, 2}, {2, R, 0x10, 1}, {2, W, 0x10, 2}});
  Seen other = observe({{2, R, 0x10, 1}, {2, W, 0x10, 2}, {1, R, 0x10, 1}, {1, W, 0x10, 2}});
  EXPECT_EQ(one.signature, other.signature);
}

TEST_F(ObserverTest, ALoopThatWaitsIsOneRead) {
  Seen once = observe({{0, R, 0x10, 1}, {1, W, 0x10, 2}, {0, R, 0x10, 1}});
  Seen often = observe({{0, R, 0x10, 1}, {0, R, 0x10, 1}, {0, R, 0x10, 1}, {1, W, 0x10, 2}, {0, R, 0x10, 1}});
  EXPECT_EQ(once.signature, often.signature);
}

TEST_F(ObserverTest, TheOrderOfLocksCounts) {
  Seen one = observe({{0, L, 0x10, 1}, {1, L, 0x10, 2}});
  Seen other = observe({{1, L, 0x10, 2}, {0, L, 0x10, 1}});
  EXPECT_NE(one.signature, other.signature);
  EXPECT_NE(one.pairs, other.pairs);
}

TEST_F(ObserverTest, MoreThanItHasRoomFor) {
  std::vector<Event> events;
  for (uptr i = 1; i <= 5000; ++i) events.push_back({0, W, 16 * i, i % 4096});
  Seen one = observe(events);
  EXPECT_EQ(one.signature, observe(events).signature);
  events.clear();
  for (uptr i = 1; i <= 5000; ++i) events.push_back({static_cast<u32>(i % 3), W, 16, i % 4096});
  EXPECT_EQ(observe(events).pairs.size(), trail::kMostObservedPairs);
}

}  // namespace
}  // namespace duress::sched
