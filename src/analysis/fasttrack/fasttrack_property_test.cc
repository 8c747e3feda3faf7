// SPDX-License-Identifier: Apache-2.0
//
// FastTrack against happens-before by definition, on random traces, finding by finding: the first
// racy access of every byte is the same, and every pair that FastTrack names is a real race.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "analysis/fasttrack/hot_path.h"
#include "analysis/testing/reference.h"
#include "base/testing/rounds.h"

namespace duress {
namespace {

using testing::Event;
using testing::Op;
using testing::Reference;
using testing::Trace;
using testing::TraceShape;

constexpr uptr kBase = 0x7f1234560000;  // where the traces' arena pretends to be

/// Runs a trace through FastTrack. Event i has site kFirstModuleSite + i.
class Runner final : public RaceSink {
 public:
  virtual ~Runner() = default;
  Runner(const Trace& trace, ShadowMap& shadow, u32 budget)
      : trace_(trace), budget_(budget), syncs_(arena_), fasttrack_(arena_, shadow, syncs_, *this) {
    fasttrack_.set_chunk_budget(budget);
    int threads = 0;
    for (const Event& e : trace) threads = std::max({threads, e.thread + 1, e.other + 1});
    for (int i = 0; i < threads; ++i)
      threads_.push_back(std::make_unique<Thread>(arena_, static_cast<Slot>(i)));
    std::vector<bool> forked(threads);
    for (const Event& e : trace)
      if (e.op == Op::kFork) forked[e.other] = true;
    for (int i = 0; i < threads; ++i)
      if (!forked[i]) attach(*threads_[i]);
  }

  void run() {
    for (now_ = 0; now_ < trace_.size(); ++now_) {
      if (budget_ == 1) collect_soon();
      step(trace_[now_]);
    }
    for (auto& t : threads_) detach(*t);
    fasttrack_.attach(threads_[0]->ft);
    fasttrack_.forget(threads_[0]->ft, kBase, kBase + 4096);
  }

  void race(const Race& race) override {
    size_t earlier = raw(race.earlier.place.site) - kFirstModuleSite;
    size_t later = raw(race.later.place.site) - kFirstModuleSite;
    EXPECT_EQ(later, now_);
    pairs_.push_back({earlier, later});
    for (u32 i = 0; i < race.size; ++i) first_.emplace(static_cast<u32>(race.address - kBase) + i, later);
  }

  std::map<u32, size_t> first_;
  std::vector<std::pair<size_t, size_t>> pairs_;
  u64 collections() const { return fasttrack_.collections(); }
  u64 dropped() const { return fasttrack_.dropped(); }

 private:
  struct Thread {
    Thread(Arena& arena, Slot slot) : clock(arena, slot, 1), ft(clock, &self) {}
    DuressSelf self = {};
    ThreadClock clock;
    FastTrackThread ft;
    bool attached = false;
  };
  void attach(Thread& t) {
    if (!t.attached) fasttrack_.attach(t.ft);
    t.attached = true;
  }
  void detach(Thread& t) {
    if (t.attached) fasttrack_.detach(t.ft);
    t.attached = false;
  }

  /// At the next access of the thread whose turn it is. Threads whose next event is a join wait for it.
  void collect_soon() {
    FastTrackThread& now = threads_[trace_[now_].thread]->ft;
    if (now_ % 5 == 0) now.next = now.end;  // its numbers are used up
    for (size_t i = 0; i < threads_.size(); ++i) {
      size_t next = now_;
      while (next < trace_.size() && trace_[next].thread != static_cast<int>(i)) ++next;
      const bool joins = next < trace_.size() && trace_[next].op == Op::kJoin;
      threads_[i]->ft.joining.store(joins ? &threads_[trace_[next].other]->ft : nullptr);
    }
  }

  void step(const Event& e) {
    Thread& t = *threads_[e.thread];
    Place place{static_cast<SiteId>(kFirstModuleSite + now_), StackId{0}};
    uptr address = kBase + e.address;
    auto object = [&] { return syncs_.get(kBase + 0x1000 + static_cast<uptr>(e.object) * 64, 0); };
    switch (e.op) {
      case Op::kRead:
      case Op::kWrite:
        if (e.size > 8 && e.size % 8 == 0 && e.address % 8 == 0 &&
            now_ % 2) {  // the same bytes, as a loop over words
          bool down = now_ % 4 == 1;
          fasttrack_.strided(t.ft, down ? address + e.size - 8 : address, e.size / 8, down ? -8 : 8, 8,
                             e.op == Op::kWrite, place);
        } else if (e.size != 16 || !pair(t, address, e.op == Op::kWrite, place)) {
          fasttrack_.access(t.ft, address, e.size, e.op == Op::kWrite, place);
        }
        break;
      case Op::kAtomicLoad:
      case Op::kAtomicStore:
      case Op::kAtomicRmw:
        atomic(t, e, place);
        break;
      case Op::kFence:
        t.clock.fence(e.order);
        break;
      case Op::kLock:
        t.clock.acquire(object()->released);
        t.clock.acquire(object()->readers);
        break;
      case Op::kUnlock:
        t.clock.release_to(object()->released);
        break;
      case Op::kReadLock:
        t.clock.acquire(object()->released);
        break;
      case Op::kReadUnlock:
        t.clock.release_join(object()->readers);
        break;
      case Op::kPost:
        t.clock.release_join(object()->released);
        break;
      case Op::kWait:
        t.clock.acquire(object()->released);
        break;
      case Op::kFork: {
        ReleaseClock start;
        t.clock.release_to(start);
        threads_[e.other]->clock.acquire(start);
        start.clear(arena_);
        attach(*threads_[e.other]);
        break;
      }
      case Op::kJoin:
        t.clock.acquire(threads_[e.other]->clock.clock());
        detach(*threads_[e.other]);
        break;
      case Op::kBlockBegin:  // order nothing
      case Op::kBlockEnd:
        break;
    }
    FastTrack::after_sync(t.ft);
  }

  /// As the hooks for 16 bytes do.
  bool pair(Thread& t, uptr address, bool write, Place place) {
    if (!EpochFilter::is_open(t.self)) fasttrack_.open_epoch(t.ft);
    FastTrack::Outcome outcome = write ? fasttrack_.try_pair<true>(t.ft, address, place)
                                       : fasttrack_.try_pair<false>(t.ft, address, place);
    return outcome == FastTrack::Outcome::kDone;
  }

  void atomic(Thread& t, const Event& e, Place place) {
    SyncObject* o = syncs_.get(kBase + e.address, static_cast<u8>(e.size));
    fasttrack_.begin_atomic(t.ft);
    o->lock.lock();
    if (e.op == Op::kAtomicStore) {
      fasttrack_.atomic_access(t.ft, o, AccessKind::kAtomicWrite, place);
      t.clock.atomic_store(o->released, e.order);
    } else {
      t.clock.atomic_load(o->released, e.order);
      fasttrack_.after_sync(t.ft);
      bool load = e.op == Op::kAtomicLoad;
      fasttrack_.atomic_access(t.ft, o, load ? AccessKind::kAtomicRead : AccessKind::kAtomicRmw, place);
      if (!load) t.clock.atomic_rmw(o->released, e.order);
    }
    o->lock.unlock();
    fasttrack_.end_atomic(t.ft);
  }

  const Trace& trace_;
  const u32 budget_;
  size_t now_ = 0;
  Arena arena_;
  SyncTable syncs_;
  FastTrack fasttrack_;
  std::vector<std::unique_ptr<Thread>> threads_;
};

/// Compares one trace; the runner, for its counters.
std::unique_ptr<Runner> compare(u64 seed, const Trace& trace, ShadowMap& shadow, u32 budget) {
  Reference reference(trace);
  auto runner = std::make_unique<Runner>(trace, shadow, budget);
  runner->run();
  EXPECT_EQ(runner->first_, reference.first_races()) << "seed " << seed << "\n" << testing::to_string(trace);
  for (auto [a, b] : runner->pairs_) {
    EXPECT_TRUE(reference.races(a, b)) << "seed " << seed << " pair " << a << "," << b << "\n"
                                       << testing::to_string(trace);
  }
  return runner;
}

/// Compares `count` traces of one shape. Returns how many findings were compared.
size_t compare(u64 seed, u64 count, const TraceShape& shape, u32 budget = 4096) {
  ShadowMap shadow;
  EXPECT_TRUE(shadow.open(0));
  size_t findings = 0;
  for (u64 i = 0; i < count && !::testing::Test::HasFailure(); ++i)
    findings += compare(seed + i, testing::random_trace(seed + i, shape), shadow, budget)->first_.size();
  shadow.close();
  return findings;
}

/// Four threads that keep to the lock of each 64 bytes, but for one in 60. One ends in the middle, and
/// another one begins. `pages`: a lock has 1024 bytes, which are mostly read, as a whole or by quarters, and
/// one in 8 without it.
Trace locked_trace(u64 seed, bool pages) {
  std::mt19937_64 random(seed);
  Trace trace;
  std::vector<int> running{0, 1, 2, 3};
  for (int t : {1, 2, 3}) trace.push_back({.op = Op::kFork, .thread = 0, .other = t});
  while (trace.size() < Reference::kMostEvents - 10) {
    if (trace.size() > Reference::kMostEvents / 2 && running[3] == 3) {
      trace.push_back({.op = Op::kJoin, .thread = 0, .other = 3});
      trace.push_back({.op = Op::kFork, .thread = 1, .other = 4});
      running[3] = 4;
    }
    // The first thread waits for the fourth to end.
    const int t = running[running[3] == 3 && trace.size() > 40 ? 1 + random() % 3 : random() % 4];
    const int lock = static_cast<int>(random() % (pages ? 2 : 4));
    const bool shared = pages ? random() % 6 : random() % 4 == 0, locked = random() % (pages ? 8 : 60);
    if (locked) trace.push_back({.op = shared ? Op::kReadLock : Op::kLock, .thread = t, .object = lock});
    for (u64 n = 1 + random() % (pages ? 2 : 6); n; --n) {
      const u32 region = pages ? 1024 : 64;
      const u32 size = 1u << (pages && random() % 3 ? 8 + random() % 3 : random() % 4);
      const u32 place = static_cast<u32>(random() % (region / size)) * size;
      const bool write = !shared && random() % 2;
      trace.push_back({.op = write ? Op::kWrite : Op::kRead,
                       .thread = t,
                       .address = static_cast<u32>(lock) * region + place,
                       .size = size});
    }
    if (locked) trace.push_back({.op = shared ? Op::kReadUnlock : Op::kUnlock, .thread = t, .object = lock});
  }
  return trace;
}

TEST(FastTrackProperty, PlainAccessesOfOneSize) {
  EXPECT_GT(compare(1, rounds(20000), {.threads = 3, .events = 30, .atomics = false, .mixed_sizes = false}),
            rounds(1000));
}
TEST(FastTrackProperty, MixedSizesNeighboursAndOverlaps) {
  EXPECT_GT(compare(1000000, rounds(30000), {.threads = 4, .events = 40, .atomics = false}), rounds(1000));
}
TEST(FastTrackProperty, AtomicsAndFences) {
  EXPECT_GT(compare(2000000, rounds(30000), {.threads = 4, .events = 45}), rounds(1000));
}
TEST(FastTrackProperty, ManyThreadsOnFewBytes) {
  EXPECT_GT(compare(3000000, rounds(15000), {.threads = 9, .events = 60, .plain_bytes = 8}), rounds(1000));
}
TEST(FastTrackProperty, EightThreads) {
  EXPECT_GT(compare(8000000, rounds(5000), {.threads = 8, .events = 90, .plain_bytes = 64, .ranges = true}),
            rounds(1000));
}
TEST(FastTrackProperty, EightThreadsThatMostlyRead) {
  TraceShape shape{.threads = 8, .events = 200, .plain_bytes = 24, .all_start = true, .one_write_in = 60};
  EXPECT_GT(compare(8500000, rounds(4000), shape), rounds(1000));
}
TEST(FastTrackProperty, SixtyFourThreads) {
  TraceShape shape{.threads = 64, .events = 250, .plain_bytes = 16, .all_start = true, .one_write_in = 20};
  EXPECT_GT(compare(9000000, rounds(1500), shape), rounds(1000));
}
TEST(FastTrackProperty, LongTracesOfFewRaces) {
  EXPECT_GT(compare(4000000, rounds(4000), {.threads = 3, .events = 120, .plain_bytes = 16}), rounds(1000));
}
TEST(FastTrackProperty, RangesAndStrides) {
  EXPECT_GT(compare(6000000, rounds(10000),
                    {.threads = 4, .events = 50, .plain_bytes = 128, .atomics = false, .ranges = true}),
            rounds(1000));
}
TEST(FastTrackProperty, RangesOverAtomics) {
  EXPECT_GT(compare(7000000, rounds(5000), {.threads = 4, .events = 60, .plain_bytes = 64, .ranges = true}),
            rounds(1000));
}
TEST(FastTrackProperty, CollectingRecordsChangesNothing) {
  EXPECT_GT(compare(5000000, rounds(1500), {.threads = 4, .events = 60}, 1), rounds(1000));
}
TEST(FastTrackProperty, DroppingAccessesThatAllThreadsFollowChangesNothing) {
  ShadowMap shadow;
  ASSERT_TRUE(shadow.open(0));
  u64 findings = 0, dropped = 0;
  for (u64 seed = 1; seed <= rounds(2000) && !HasFailure(); ++seed) {
    auto runner = compare(seed, locked_trace(seed, false), shadow, 1);
    findings += runner->first_.size();
    dropped += runner->dropped();
  }
  shadow.close();
  EXPECT_GT(findings, rounds(2000));
  EXPECT_GT(dropped, rounds(20000));
}
TEST(FastTrackProperty, PagesThatSeveralThreadsRead) {
  ShadowMap shadow;
  ASSERT_TRUE(shadow.open(0));
  u64 findings = 0;
  for (u64 seed = 1; seed <= rounds(4000) && !HasFailure(); ++seed)
    findings += compare(seed, locked_trace(seed, true), shadow, seed % 2 ? 4096 : 1)->first_.size();
  shadow.close();
  EXPECT_GT(findings, rounds(100000));
}

}  // namespace
}  // namespace duress
